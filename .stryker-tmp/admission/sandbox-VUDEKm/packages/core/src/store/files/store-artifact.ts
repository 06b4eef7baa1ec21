import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../../lib/atomic-file.ts";
import { artifactsDir, listArtifacts } from "./artifacts.ts";

export const maxArtifactBytes = 64 * 1024 ** 2;
const maxArtifacts = 100;
const maxTotalBytes = 256 * 1024 ** 2;

export type StoreArtifactResult =
  | { kind: "kept"; bytes: number }
  | { kind: "refused"; reason: string };

/**
 * Copies an open file completely, or not at all. If the file grows meanwhile, the copied part
 * counts.
 */
export async function storeArtifact(
  jobDir: string,
  name: string,
  from: FileHandle,
): Promise<StoreArtifactResult> {
  const folder = artifactsDir(jobDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const others = (await listArtifacts(jobDir)).filter((artifact) => artifact.name !== name);
  if (others.length >= maxArtifacts)
    return refused(`the job already keeps ${maxArtifacts} files, which is the limit`);
  const usedBytes = others.reduce((sum, { bytes }) => sum + bytes, 0);
  const remainingBytes = Math.min(maxArtifactBytes, maxTotalBytes - usedBytes);
  const draftFile = join(folder, `.${randomBytes(6).toString("hex")}`);
  try {
    const bytes = await copyBounded(from, draftFile, remainingBytes);
    if (bytes === undefined) return refused(tooLarge(remainingBytes));
    await rename(draftFile, join(folder, name));
    await syncFolder(folder);
    return { kind: "kept", bytes };
  } finally {
    await rm(draftFile, { force: true });
  }
}

/** Undefined if there is more than `maxBytes`. */
async function copyBounded(
  from: FileHandle,
  to: string,
  maxBytes: number,
): Promise<number | undefined> {
  const target = await open(to, "wx", 0o600);
  try {
    const buffer = Buffer.alloc(256 * 1024);
    let copiedBytes = 0;
    for (;;) {
      const { bytesRead } = await from.read(buffer, 0, buffer.length, copiedBytes);
      if (bytesRead === 0) break;
      copiedBytes += bytesRead;
      if (copiedBytes > maxBytes) return undefined;
      await target.writeFile(buffer.subarray(0, bytesRead));
    }
    await target.sync();
    return copiedBytes;
  } finally {
    await target.close();
  }
}

function tooLarge(remainingBytes: number): string {
  return remainingBytes === maxArtifactBytes
    ? `the file is larger than ${maxArtifactBytes / 1024 ** 2} MB`
    : `the files of a job can have at most ${maxTotalBytes / 1024 ** 2} MB together`;
}

function refused(reason: string): StoreArtifactResult {
  return { kind: "refused", reason };
}
