import { constants } from "node:fs";
import { chmod, mkdir, open } from "node:fs/promises";
import { join } from "node:path";

/** A folder that is held open: on Linux its path leads to it and to no other, whatever its name becomes. */
export interface OpenFolder {
  path: string;
  close(): Promise<void>;
}

/**
 * Opens a folder, and never what a link leads to. Whoever may write around it, such as an agent in
 * a container, could put a link in its place at any time.
 */
export async function openFolder(path: string): Promise<OpenFolder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const held = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
  return { path: held, close: () => handle.close() };
}

/** The folder of that name in another, made if it is missing. Others may look into it, a container's user too. */
export async function folderWithin(parent: OpenFolder, name: string): Promise<OpenFolder> {
  const path = join(parent.path, name);
  const isNew = await mkdir(path).then(() => true, ifThere);
  const folder = await openFolder(path);
  if (isNew) await chmod(folder.path, 0o755);
  return folder;
}

function ifThere(error: unknown): false {
  if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
  throw error;
}
