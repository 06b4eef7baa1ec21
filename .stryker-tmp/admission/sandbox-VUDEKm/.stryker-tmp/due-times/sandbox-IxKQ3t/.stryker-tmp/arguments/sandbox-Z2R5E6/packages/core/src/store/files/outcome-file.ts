import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasErrorCode } from "@herdctl/protocol";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { ensureJobDir } from "./job-folder.ts";

/** Writes the outcome of a runner: completely, or not at all. */
export async function writeOutcome(jobDir: string, outcome: object): Promise<void> {
  ensureJobDir(jobDir);
  await writeFileAtomic(outcomeFile(jobDir), `${JSON.stringify(outcome)}\n`);
}

export type StoredOutcome =
  | { kind: "none" }
  | { kind: "found"; value: unknown }
  | { kind: "damaged"; file: string };

export async function readOutcome(jobDir: string): Promise<StoredOutcome> {
  const file = outcomeFile(jobDir);
  const text = await readIfExists(file);
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

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
