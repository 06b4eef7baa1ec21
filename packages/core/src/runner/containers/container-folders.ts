import {
  chmodSync,
  chownSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import type { ContainerUser } from "../../docker/docker-config.ts";
import { emptyMcpConfig, kindOf } from "../../docker/workspace-guard.ts";
import { containerPaths } from "../../lib/container-layout.ts";

/** A folder of sockets that is mounted into a container. */
export interface SocketFolder {
  folder: string;
  /** The path to listen on for a socket with this name in the folder. */
  socketPathFor(name: string): string;
  close(): void;
}

/** The operating system silently truncates a longer path. */
const maxSocketPathBytes = 107;

/**
 * The container's user differs from ours and must be able to connect. Other users of the host cannot
 * reach the folder, because the job's folder around it is private.
 */
export function openSocketFolder(folder: string): SocketFolder {
  mkdirSync(folder, { recursive: true });
  // The folder itself is kept, because a container may already have mounted it.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  chmodSync(folder, 0o755);
  const fd = openSync(folder, "r");
  return {
    folder,
    socketPathFor: (name) => {
      const path = join(folder, name);
      return Buffer.byteLength(path) <= maxSocketPathBytes ? path : `/proc/self/fd/${fd}/${name}`;
    },
    close: () => {
      closeSync(fd);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

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

const [configFileName, ignoreFileName] = ["gitconfig", "gitignore"];

export const gitVariables = { GIT_CONFIG_SYSTEM: `${containerPaths.privateDir}/${configFileName}` };

/**
 * System-wide git configuration of a container: trusts a workspace of another user, sets a name for
 * commits, and excludes placeholders from them. Repository and user configuration override it.
 */
export function writeGitConfig(privateDir: string, agent: string, workspace: string): void {
  const text = [
    "[safe]",
    "\tdirectory = *",
    "[user]",
    `\tname = ${agent}`,
    `\temail = ${agent}@herdctl.invalid`,
    "[core]",
    `\texcludesFile = ${containerPaths.privateDir}/${ignoreFileName}`,
    "",
  ].join("\n");
  writeFileSync(join(privateDir, configFileName), text, { mode: 0o600 });
  writeFileSync(
    join(privateDir, ignoreFileName),
    isMcpPlaceholder(workspace) ? "/.mcp.json\n" : "",
    {
      mode: 0o600,
    },
  );
}

/** Whether `.mcp.json` is a placeholder of this run or of another one in the same folder. */
function isMcpPlaceholder(workspace: string): boolean {
  const file = join(workspace, ".mcp.json");
  return kindOf(file) === "file" && readFileSync(file, "utf8") === emptyMcpConfig;
}
