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

export async function readPlanted(file: string): Promise<string | undefined> {
  const handle = await openPlanted(file);
  try {
    return await handle?.readFile("utf8");
  } finally {
    await handle?.close();
  }
}

export async function isPlainFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
