import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { hasErrorCode } from "@herdctl/protocol";

/** An agent in a container can put anything there, such as a symbolic link or a blocking pipe. */
const safeOpenFlags =
  /* defence: session-file-no-follow */ constants.O_RDONLY |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

/** Opens a file that an agent may have created; undefined if it is missing or not a regular file. */
export async function openUntrusted(file: string): Promise<FileHandle | undefined> {
  try {
    const handle = await open(file, safeOpenFlags);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return undefined;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR", "ELOOP", "ENXIO")) return undefined;
    throw error;
  }
}

/** The text of a small file; undefined if it is missing or larger than `maxBytes`. */
export async function readUntrusted(file: string, maxBytes: number): Promise<string | undefined> {
  const handle = await openUntrusted(file);
  try {
    if (
      /* defence: session-file-size-limit */ handle === undefined ||
      (await handle.stat()).size > maxBytes
    )
      return undefined;
    const buffer = Buffer.alloc(maxBytes);
    const { bytesRead } = await handle.read(buffer, 0, maxBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle?.close();
  }
}

const chunkBytes = 1024 * 1024;

/** Searches a file of any size for a text, without loading the whole file. */
export async function untrustedFileContains(file: string, text: string): Promise<boolean> {
  const handle = await openUntrusted(file);
  if (handle === undefined) return false;
  const needle = Buffer.from(text);
  let tail = Buffer.alloc(0);
  try {
    for await (const chunk of handle.createReadStream({ highWaterMark: chunkBytes })) {
      const searched = Buffer.concat([tail, chunk]);
      if (searched.includes(needle)) return true;
      tail = searched.subarray(Math.max(0, searched.length - needle.length + 1));
    }
    return false;
  } finally {
    await handle.close();
  }
}

export async function isPlainFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    // defence: session-folder-no-link
    (entry) => entry.isDirectory(),
    () => false,
  );
}
