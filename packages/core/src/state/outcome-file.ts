import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { placeFile, syncFile, writeFileAtomic } from "./atomic-file.ts";
import { ensureJobDir } from "./job-dir.ts";

/** The last word of a runner, whole or not there at all. */
export async function writeOutcome(jobDir: string, outcome: object): Promise<void> {
  ensureJobDir(jobDir);
  await writeFileAtomic(outcomeFile(jobDir), `${JSON.stringify(outcome)}\n`);
}

/**
 * The same for whoever tells of it as well, and has somebody waiting: there at once, and safe from a
 * power cut after `syncOutcome`.
 */
export function placeOutcome(jobDir: string, outcome: object): void {
  ensureJobDir(jobDir);
  placeFile(outcomeFile(jobDir), `${JSON.stringify(outcome)}\n`);
}

export function syncOutcome(jobDir: string): Promise<void> {
  return syncFile(outcomeFile(jobDir));
}

export type StoredOutcome =
  | { kind: "none" }
  | { kind: "found"; value: unknown }
  | { kind: "damaged"; file: string };

export async function readOutcome(jobDir: string): Promise<StoredOutcome> {
  const file = outcomeFile(jobDir);
  const text = await readIfThere(file);
  if (text === undefined) return { kind: "none" };
  try {
    return { kind: "found", value: JSON.parse(text) };
  } catch {
    return { kind: "damaged", file };
  }
}

function outcomeFile(jobDir: string): string {
  return join(jobDir, "outcome.json");
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
