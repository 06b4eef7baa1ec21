import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { artifactsDir, keptArtifacts } from "./artifacts.ts";
import { syncFolder } from "./atomic-file.ts";

export const largestArtifact = 64 * 1024 ** 2;
const mostArtifacts = 100;
const mostBytes = 256 * 1024 ** 2;

export type Kept = { kind: "kept"; bytes: number } | { kind: "refused"; reason: string };

/** Copies an open file, whole or not at all. It may grow meanwhile: what is read is what counts. */
export async function keepArtifact(jobDir: string, name: string, from: FileHandle): Promise<Kept> {
  const folder = artifactsDir(jobDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const others = (await keptArtifacts(jobDir)).filter((one) => one.name !== name);
  if (others.length >= mostArtifacts)
    return refused(`the job keeps ${mostArtifacts} files already, which is the most`);
  const taken = others.reduce((sum, { bytes }) => sum + bytes, 0);
  const room = Math.min(largestArtifact, mostBytes - taken);
  const draft = join(folder, `.${randomBytes(6).toString("hex")}`);
  try {
    const bytes = await copy(from, draft, room);
    if (bytes === undefined) return refused(tooLarge(room));
    await rename(draft, join(folder, name));
    await syncFolder(folder);
    return { kind: "kept", bytes };
  } finally {
    await rm(draft, { force: true });
  }
}

/** Undefined when there is more of it than may be. */
async function copy(from: FileHandle, to: string, most: number): Promise<number | undefined> {
  const target = await open(to, "wx", 0o600);
  try {
    const piece = Buffer.alloc(256 * 1024);
    let done = 0;
    for (;;) {
      const { bytesRead } = await from.read(piece, 0, piece.length, done);
      if (bytesRead === 0) break;
      done += bytesRead;
      if (done > most) return undefined;
      await target.writeFile(piece.subarray(0, bytesRead));
    }
    await target.sync();
    return done;
  } finally {
    await target.close();
  }
}

function tooLarge(room: number): string {
  return room === largestArtifact
    ? `it is larger than ${largestArtifact / 1024 ** 2} MB`
    : `the files of a job have at most ${mostBytes / 1024 ** 2} MB together`;
}

function refused(reason: string): Kept {
  return { kind: "refused", reason };
}
