import { randomBytes } from "node:crypto";
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { failPoint } from "../faults/fail-point.ts";

/** Whoever reads sees the old content or the new; when it resolves, the new survives a power cut. */
export async function writeFileAtomic(
  file: string,
  data: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const draft = draftOf(file);
  try {
    await writeDurably(draft, data, mode);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

/** The same at once, though a power cut may take it back until `syncFile` has seen to it. */
export function placeFile(file: string, data: string, mode = 0o600): void {
  const draft = draftOf(file);
  try {
    const descriptor = openSync(draft, "wx", mode);
    try {
      failPoint("file write");
      writeFileSync(descriptor, data);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

export async function syncFile(file: string): Promise<void> {
  await sync(file);
  await sync(dirname(file));
}

function draftOf(file: string): string {
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
  return sync(folder);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
