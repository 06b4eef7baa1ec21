import { constants, existsSync } from "node:fs";
import { chmod, mkdir, open, readdir, realpath, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedAgent } from "@herdctl/config";
import { type ChatMessage, hasErrorCode } from "@herdctl/protocol";
import { ChatError } from "./connector.ts";

const folderName = ".herdctl-chat";
const ignoreFile = ".gitignore";
const extensions: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

export function isImage(type: string): boolean {
  return Object.hasOwn(extensions, type);
}

/**
 * A clone does not exist before the first job. Only Linux can hold on to a folder that a container
 * may change.
 */
export function canSaveImages({ docker, working_directory }: ResolvedAgent): boolean {
  const isSafe = !docker.enabled || process.platform === "linux";
  return isSafe && existsSync(working_directory.path);
}

/** Saves an image in the agent's folder under a generated name, and returns its path there. */
export async function saveImage(
  agent: ResolvedAgent,
  { id }: ChatMessage,
  image: { number: number; type: string; content: Buffer },
): Promise<string> {
  const name = `image-${image.number}.${extensions[image.type] ?? "bin"}`;
  await withWorkspace(agent, async (workspace) => {
    const imagesFolder = await openOrCreateFolder(workspace, folderName);
    try {
      await writeNewFile(join(imagesFolder.path, ignoreFile), Buffer.from("*\n"));
      const messageFolder = await openOrCreateFolder(imagesFolder, id);
      await writeNewFile(join(messageFolder.path, name), image.content).finally(
        messageFolder.close,
      );
    } finally {
      await imagesFolder.close();
    }
  });
  return join(folderName, id, name);
}

/** Removes the images of an answered message, and their folder after the last one. */
export async function removeImages(agent: ResolvedAgent, { id }: ChatMessage): Promise<void> {
  if (!canSaveImages(agent) || !existsSync(join(agent.working_directory.path, folderName))) return;
  await withWorkspace(agent, async (workspace) => {
    const imagesFolder = await openFolder(join(workspace.path, folderName));
    try {
      await removeFolder(join(imagesFolder.path, id));
      if ((await readdir(imagesFolder.path)).some((name) => name !== ignoreFile)) return;
      await unlink(join(imagesFolder.path, ignoreFile));
      await rmdir(join(workspace.path, folderName));
    } finally {
      await imagesFolder.close();
    }
  }).catch(() => undefined);
}

async function withWorkspace(
  { working_directory }: ResolvedAgent,
  work: (workspace: OpenFolder) => Promise<void>,
): Promise<void> {
  const workspace = await openFolder(await realpath(working_directory.path));
  await work(workspace).finally(workspace.close);
}

/** Replaces a file that an earlier fleet may have left. A link is removed, not followed. */
async function writeNewFile(path: string, content: Buffer): Promise<void> {
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

async function removeFolder(path: string): Promise<void> {
  const folder = await openFolder(path);
  try {
    for (const name of await readdir(folder.path)) await unlink(join(folder.path, name));
  } finally {
    await folder.close();
  }
  await rmdir(path);
}

/** An open folder. On Linux its path leads to this folder only, even if its name changes. */
interface OpenFolder {
  path: string;
  close(): Promise<void>;
}

/**
 * Opens a folder without following links. A process that can write next to it, such as an agent in
 * a container, could replace it by a link at any time.
 */
async function openFolder(path: string): Promise<OpenFolder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const heldPath = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
  return { path: heldPath, close: () => handle.close() };
}

/**
 * Opens a subfolder, and creates it if it is missing. Other users, such as a container's, may read
 * it.
 */
async function openOrCreateFolder(parent: OpenFolder, name: string): Promise<OpenFolder> {
  const path = join(parent.path, name);
  const isNew = await mkdir(path).then(() => true, ignoreExisting);
  const folder = await openFolder(path);
  if (isNew) await chmod(folder.path, 0o755);
  return folder;
}

function ignoreExisting(error: unknown): false {
  if (hasErrorCode(error, "EEXIST")) return false;
  throw error;
}

const timeoutMs = 30_000;

/**
 * Downloads a file from an address that the connector has checked: the host must be the platform's.
 * Redirects, larger files and answers that take longer than 30 seconds are errors.
 */
export async function downloadAttachment(
  url: URL,
  maxBytes: number,
  headers: Record<string, string> = {},
): Promise<Buffer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { headers, redirect: "error", signal });
  if (!response.ok || !response.body) {
    throw new ChatError("The file could not be downloaded.", "", response.status >= 500);
  }
  const chunks: Uint8Array[] = [];
  let totalBytes = 0;
  for await (const chunk of response.body) {
    totalBytes += chunk.length;
    if (totalBytes > maxBytes) throw new ChatError("The file is too large.", "", false);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
