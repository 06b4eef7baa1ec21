import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../errors/user-error.ts";
import type { ContainerUser } from "../runtime/docker-config.ts";

/**
 * Makes a folder of ours, such as the agent's sessions, the container user's own. One that another
 * user has filled is left as it is: giving away file by file what an agent can change meanwhile
 * could give away what is not ours.
 */
export function giveFolder(folder: string, user: ContainerUser): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(folder);
  if (uid === user.uid) return;
  const ourselves = process.getuid?.();
  if (ourselves !== 0) {
    throw new UserError(
      "workspace_unusable",
      `The container's user is ${user.uid}, but herdctl runs as user ${ourselves} and cannot share its folders with another.`,
      { hint: `Set \`docker.user: "${ourselves}"\`, or give the working directory to this user.` },
    );
  }
  if (readdirSync(folder).length > 0) {
    throw new UserError(
      "workspace_unusable",
      `${folder} belongs to user ${uid}, but the container's user is ${user.uid} now.`,
      {
        hint: `Run \`chown -R ${user.uid}:${user.gid} ${folder}\`, or set \`docker.user: "${uid}"\`.`,
      },
    );
  }
  chownSync(folder, user.uid, user.gid);
}

/** What lies below a private folder and is mounted by itself may be read by whoever is inside. */
export function letRead(folder: string): void {
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isFile()) chmodSync(path, 0o644);
  }
}
