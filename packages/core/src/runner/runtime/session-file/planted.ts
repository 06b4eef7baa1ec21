import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";

/** An agent in a container can put there what it likes: a link to another file, a pipe that waits. */
const warily = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a file that an agent may have made; undefined when there is none, or it is no plain one. */
export async function openPlanted(file: string): Promise<FileHandle | undefined> {
  try {
    const handle = await open(file, warily);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes(code)) return undefined;
    throw error;
  }
}

/** The text of a small file; undefined also when it is larger. */
export async function readPlanted(file: string, maxBytes: number): Promise<string | undefined> {
  const handle = await openPlanted(file);
  try {
    if (handle === undefined || (await handle.stat()).size > maxBytes) return undefined;
    const buffer = Buffer.alloc(maxBytes);
    const { bytesRead } = await handle.read(buffer, 0, maxBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle?.close();
  }
}

const pieceBytes = 1024 * 1024;

/** Whether a file of any size holds a text, without ever holding the file. */
export async function plantedHolds(file: string, text: string): Promise<boolean> {
  const handle = await openPlanted(file);
  if (handle === undefined) return false;
  const wanted = Buffer.from(text);
  let before = Buffer.alloc(0);
  try {
    for await (const piece of handle.createReadStream({ highWaterMark: pieceBytes })) {
      const seen = Buffer.concat([before, piece]);
      if (seen.includes(wanted)) return true;
      before = seen.subarray(Math.max(0, seen.length - wanted.length + 1));
    }
    return false;
  } finally {
    await handle.close();
  }
}

export async function isPlainFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
