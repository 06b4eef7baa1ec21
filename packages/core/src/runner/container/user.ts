import { type Stats, statSync } from "node:fs";
import { UserError } from "../../errors/user-error.ts";
import type { ContainerUser, DockerConfig } from "../runtime/docker-config.ts";

/** Who the agent is in its container: as configured, else the workspace's owner, never root. */
export function containerUser(
  config: Pick<DockerConfig, "user">,
  workspace: string,
): ContainerUser {
  if (config.user) return config.user;
  const { uid, gid } = statSync(workspace);
  return uid === 0 ? ordinary : { uid, gid: gid === 0 ? uid : gid };
}

/** Who it is where nobody says, and root owns the folder. */
export const ordinary: ContainerUser = { uid: 1000, gid: 1000 };

export interface Needed {
  path: string;
  /** As it is named in a message: "the working directory". */
  what: string;
  write: boolean;
  /** What would help, beside another user. */
  remedy: string;
}

/** An agent that cannot read or write its folder would find out late, and at a price. */
export function checkAccess(user: ContainerUser, needed: Needed): void {
  const stats = statSync(needed.path);
  const right = (needed.write ? 2 : 0) + 4 + (stats.isDirectory() ? 1 : 0);
  if ((rightsOf(stats, user) & right) === right) return;
  const verb = needed.write ? "write" : "read";
  throw new UserError(
    "workspace_unusable",
    `User ${user.uid} of the container may not ${verb} ${needed.what} ${needed.path}, which belongs to user ${stats.uid}.`,
    { hint: `Give it to that user (\`chown -R ${user.uid}\`), ${needed.remedy}.` },
  );
}

/** As the kernel asks: the owner by the owner's bits alone, then the group, then others. */
function rightsOf({ mode, uid, gid }: Stats, user: ContainerUser): number {
  if (uid === user.uid) return (mode >> 6) & 7;
  return gid === user.gid ? (mode >> 3) & 7 : mode & 7;
}
