import { constants, existsSync } from "node:fs";
import { open, readdir, realpath, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { ChatMessage } from "../state/chat.ts";
import { folderWithin, type OpenFolder, openFolder } from "./open-folder.ts";

const folderName = ".herdctl-chat";
const ignoreFile = ".gitignore";
const endings: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

export function isImage(type: string): boolean {
  return Object.hasOwn(endings, type);
}

/** A clone is not there before the first job. Only Linux can keep to a folder that a container may change. */
export function takesImages({ docker, working_directory }: ResolvedAgent): boolean {
  const isSafe = !docker.enabled || process.platform === "linux";
  return isSafe && existsSync(working_directory.path);
}

/** Puts an image into the agent's folder under a name of ours, and says where it lies there. */
export async function keepImage(
  agent: ResolvedAgent,
  { id }: ChatMessage,
  image: { number: number; type: string; content: Buffer },
): Promise<string> {
  const name = `image-${image.number}.${endings[image.type] ?? "bin"}`;
  await inFolder(agent, async (workspace) => {
    const all = await folderWithin(workspace, folderName);
    try {
      await write(join(all.path, ignoreFile), Buffer.from("*\n"));
      const own = await folderWithin(all, id);
      await write(join(own.path, name), image.content).finally(own.close);
    } finally {
      await all.close();
    }
  });
  return join(folderName, id, name);
}

/** The message is answered; with the last one of them the folder goes too. */
export async function removeImages(agent: ResolvedAgent, { id }: ChatMessage): Promise<void> {
  if (!takesImages(agent) || !existsSync(join(agent.working_directory.path, folderName))) return;
  await inFolder(agent, async (workspace) => {
    const all = await openFolder(join(workspace.path, folderName));
    try {
      await empty(join(all.path, id));
      if ((await readdir(all.path)).some((name) => name !== ignoreFile)) return;
      await unlink(join(all.path, ignoreFile));
      await rmdir(join(workspace.path, folderName));
    } finally {
      await all.close();
    }
  }).catch(() => undefined);
}

async function inFolder(
  { working_directory }: ResolvedAgent,
  work: (workspace: OpenFolder) => Promise<void>,
): Promise<void> {
  const workspace = await openFolder(await realpath(working_directory.path));
  await work(workspace).finally(workspace.close);
}

/** In the place of what an earlier fleet may have left; a link there is removed, not followed. */
async function write(path: string, content: Buffer): Promise<void> {
  await unlink(path).catch(() => undefined);
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL);
  try {
    await file.chmod(0o644);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

async function empty(path: string): Promise<void> {
  const folder = await openFolder(path);
  try {
    for (const name of await readdir(folder.path)) await unlink(join(folder.path, name));
  } finally {
    await folder.close();
  }
  await rmdir(path);
}
