import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { hasErrorCode } from "@herdctl/protocol";

export interface UntrustedFile {
  handle: FileHandle;
  bytes: number;
}

const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a regular file that a container may have written, below one of our folders. Symbolic links
 * are not followed, neither in the last part of the path nor in its parents: the opened file must
 * have exactly this path. Undefined if there is no such file.
 */
export async function openUntrusted(
  root: string,
  relativePath: string,
): Promise<UntrustedFile | undefined> {
  const path = join(root, relativePath);
  let handle: FileHandle;
  try {
    handle = await open(path, openFlags);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES")) return undefined;
    throw error;
  }
  try {
    const stats = await handle.stat();
    const isSamePath =
      (await realPathOf(handle, path)) === join(await realpath(root), relativePath);
    if (/* defence: private-git-no-links */ stats.isFile() && isSamePath)
      return { handle, bytes: stats.size };
  } catch {
    // Removed in the meantime.
  }
  await handle.close();
  return undefined;
}

/** The text of a file; undefined if it is missing, not a regular file, or larger than `maxBytes`. */
export async function readUntrusted(
  root: string,
  relativePath: string,
  maxBytes: number,
): Promise<string | undefined> {
  const file = await openUntrusted(root, relativePath);
  if (file === undefined) return undefined;
  try {
    const buffer = Buffer.alloc(Math.min(file.bytes, maxBytes) + 1);
    const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, 0);
    return bytesRead > maxBytes ? undefined : buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.handle.close();
  }
}

export interface UntrustedEntry {
  name: string;
  kind: "file" | "folder" | "other";
}

/** The entries of a folder; empty for a symbolic link to a folder. */
export async function listUntrusted(path: string): Promise<UntrustedEntry[]> {
  const isFolder = await lstat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (!isFolder) return [];
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.map((entry) => {
    const kind = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other";
    return { name: entry.name, kind };
  });
}

/** Containers only run where `/proc` shows the path of an open file. */
async function realPathOf({ fd }: FileHandle, fallbackPath: string): Promise<string> {
  return process.platform === "linux"
    ? await readlink(`/proc/self/fd/${fd}`)
    : realpath(fallbackPath);
}
