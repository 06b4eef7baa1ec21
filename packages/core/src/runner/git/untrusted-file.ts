import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

export interface UntrustedFile {
  handle: FileHandle;
  bytes: number;
}

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a plain file that a container may have written, below a folder of ours. No link is
 * followed, neither at its end nor on the way: what was really opened must have this very path.
 * Undefined when there is no such file.
 */
export async function openUntrusted(
  root: string,
  inner: string,
): Promise<UntrustedFile | undefined> {
  const path = join(root, inner);
  let handle: FileHandle;
  try {
    handle = await open(path, flags);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES"].includes(code)) return undefined;
    throw error;
  }
  try {
    const stats = await handle.stat();
    const isAsNamed = (await realPathOf(handle, path)) === join(await realpath(root), inner);
    if (stats.isFile() && isAsNamed) return { handle, bytes: stats.size };
  } catch {
    // Taken away meanwhile.
  }
  await handle.close();
  return undefined;
}

/** Undefined when it is not there, is not a plain file, or is larger than it may be. */
export async function readUntrusted(
  root: string,
  inner: string,
  maxBytes: number,
): Promise<string | undefined> {
  const file = await openUntrusted(root, inner);
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

/** The entries of a real folder; none of a link to one. */
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

/** Where containers are, the system tells what a handle has open. */
async function realPathOf({ fd }: FileHandle, named: string): Promise<string> {
  return process.platform === "linux" ? await readlink(`/proc/self/fd/${fd}`) : realpath(named);
}
