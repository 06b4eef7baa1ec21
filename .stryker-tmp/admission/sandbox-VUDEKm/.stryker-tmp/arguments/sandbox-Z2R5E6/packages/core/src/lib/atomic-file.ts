import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { failPoint } from "../testing/failpoints.ts";

/** Readers see the old content or the new. Once this resolves, the new content survives a power cut. */
export async function writeFileAtomic(
  file: string,
  data: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const tempFile = tempPathFor(file);
  try {
    await writeDurably(tempFile, data, mode);
    await rename(tempFile, file);
  } catch (error) {
    await rm(tempFile, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

function tempPathFor(file: string): string {
  return join(dirname(file), `.${basename(file)}.${randomBytes(6).toString("hex")}`);
}

async function writeDurably(file: string, data: string | Uint8Array, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    failPoint("file write");
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function syncFolder(folder: string): Promise<void> {
  return syncPath(folder);
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
