import { randomBytes } from "node:crypto";
import { linkSync, unlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasErrorCode } from "@herdctl/protocol";
import { ensureJobDir } from "../../store/files/job-folder.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { type RunnerClaim, runnerClaimSchema } from "./messages.ts";

/**
 * True for exactly one caller per attempt. The file appears complete or not at all. It does not have
 * to survive a power cut, because no runner does.
 */
export function claimAttempt(jobDir: string, file: RunnerClaim): boolean {
  const target = runnerFilePath(jobDir, file.attempt);
  const tempPath = `${target}.${randomBytes(6).toString("hex")}`;
  ensureJobDir(jobDir);
  try {
    failPoint("claim write");
    writeFileSync(tempPath, `${JSON.stringify(file)}\n`, { flag: "wx", mode: 0o600 });
    linkSync(tempPath, target);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    removeTempFile(tempPath);
  }
}

function removeTempFile(tempPath: string): void {
  try {
    unlinkSync(tempPath);
  } catch {
    // It was never written, or cleanup after a dead runner has removed it.
  }
}

export type ClaimReadResult =
  | { kind: "none" }
  | { kind: "found"; file: RunnerClaim }
  | { kind: "damaged" };

export async function readClaim(jobDir: string, attempt: number): Promise<ClaimReadResult> {
  try {
    const text = await readFile(runnerFilePath(jobDir, attempt), "utf8");
    return { kind: "found", file: runnerClaimSchema.parse(JSON.parse(text)) };
  } catch (error) {
    const isMissing = hasErrorCode(error, "ENOENT");
    return { kind: isMissing ? "none" : "damaged" };
  }
}

function runnerFilePath(jobDir: string, attempt: number): string {
  return join(jobDir, `runner-${attempt}.json`);
}
