import { type Stats, statSync } from "node:fs";
import { UserError } from "@herdctl/protocol";
import type { ContainerUser, DockerConfig } from "./docker-config.ts";

/** The user of an agent in its container: `docker.user`, or the workspace's owner, never root. */
export function containerUser(
  config: Pick<DockerConfig, "user">,
  workspace: string,
): ContainerUser {
  if (config.user) return config.user;
  const { uid, gid } = statSync(workspace);
  return /* defence: no-root-in-container */ uid === 0
    ? defaultContainerUser
    : { uid, gid: gid === 0 ? uid : gid };
}

/** Used if `docker.user` is not set and root owns the workspace. */
export const defaultContainerUser: ContainerUser = { uid: 1000, gid: 1000 };

export interface AccessRequirement {
  path: string;
  /** Its name in messages, such as "the working directory". */
  label: string;
  needsWrite: boolean;
  /** Alternative fix, appended to the hint. */
  remedy: string;
}

/** Checked before the run, because an agent without access would only fail after spending money. */
export function checkAccess(user: ContainerUser, requirement: AccessRequirement): void {
  const stats = statSync(requirement.path);
  const requiredBits = (requirement.needsWrite ? 2 : 0) + 4 + (stats.isDirectory() ? 1 : 0);
  if ((permissionBits(stats, user) & requiredBits) === requiredBits) return;
  const verb = requirement.needsWrite ? "write" : "read";
  throw new UserError(
    "workspace_unusable",
    `User ${user.uid} of the container cannot ${verb} ${requirement.label} ${requirement.path}, which belongs to user ${stats.uid}.`,
    { hint: `Give it to that user (\`chown -R ${user.uid}\`), ${requirement.remedy}.` },
  );
}

/** Like the kernel: only the owner's bits apply to the owner, then the group's, then the others'. */
function permissionBits({ mode, uid, gid }: Stats, user: ContainerUser): number {
  if (uid === user.uid) return (mode >> 6) & 7;
  return gid === user.gid ? (mode >> 3) & 7 : mode & 7;
}
