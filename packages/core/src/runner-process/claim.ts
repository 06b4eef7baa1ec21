import { randomBytes } from "node:crypto";
import { linkSync, unlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { failPoint } from "../faults/fail-point.ts";
import { ensureJobDir } from "../state/job-dir.ts";
import { type RunnerFile, runnerFileSchema } from "./contract.ts";

/**
 * True for exactly one of all that ever try; the file appears whole or not at all. It need not
 * outlive a power cut, for no runner does.
 */
export function claimAttempt(jobDir: string, file: RunnerFile): boolean {
  const target = runnerFilePath(jobDir, file.attempt);
  const draft = `${target}.${randomBytes(6).toString("hex")}`;
  ensureJobDir(jobDir);
  try {
    failPoint("claim write");
    writeFileSync(draft, `${JSON.stringify(file)}\n`, { flag: "wx", mode: 0o600 });
    linkSync(draft, target);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    discard(draft);
  }
}

function discard(draft: string): void {
  try {
    unlinkSync(draft);
  } catch {
    // It was never made, or whoever cleans up after the dead took it.
  }
}

export type ClaimRead =
  | { kind: "none" }
  | { kind: "found"; file: RunnerFile }
  | { kind: "damaged" };

export async function readClaim(jobDir: string, attempt: number): Promise<ClaimRead> {
  try {
    const text = await readFile(runnerFilePath(jobDir, attempt), "utf8");
    return { kind: "found", file: runnerFileSchema.parse(JSON.parse(text)) };
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return { kind: isMissing ? "none" : "damaged" };
  }
}

function runnerFilePath(jobDir: string, attempt: number): string {
  return join(jobDir, `runner-${attempt}.json`);
}
