import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import type { ContainerUser } from "../../docker/docker-config.ts";

/**
 * Gives a folder of herdctl, such as the agent's sessions, to the container's user. A folder with
 * files of another user is left unchanged: an agent could swap files while they are given away one
 * by one, and so get files that are not ours.
 */
export function assignFolderToUser(folder: string, user: ContainerUser): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(folder);
  if (uid === user.uid) return;
  const ownUid = process.getuid?.();
  if (ownUid !== 0) {
    throw new UserError(
      "workspace_unusable",
      `The container's user is ${user.uid}, but herdctl runs as user ${ownUid} and cannot share its folders with another user.`,
      { hint: `Set \`docker.user: "${ownUid}"\`, or give the working directory to this user.` },
    );
  }
  if (readdirSync(folder).length > 0) {
    throw new UserError(
      "workspace_unusable",
      `${folder} belongs to user ${uid}, but the container's user is now ${user.uid}.`,
      {
        hint: `Run \`chown -R ${user.uid}:${user.gid} ${folder}\`, or set \`docker.user: "${uid}"\`.`,
      },
    );
  }
  chownSync(folder, user.uid, user.gid);
}

/** Makes the files of a folder readable for the container's user. The parent folder stays private. */
export function makeFolderReadable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isFile()) chmodSync(path, 0o644);
  }
}
