import { randomBytes } from "node:crypto";
import { closeSync, fdatasyncSync, linkSync, openSync, rmSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type RunnerFile, runnerFileSchema } from "./contract.ts";

/** True for exactly one of all that ever try. The file appears whole or not at all. */
export function claimAttempt(jobDir: string, file: RunnerFile): boolean {
  const target = runnerFilePath(jobDir, file.attempt);
  const draft = `${target}.${randomBytes(6).toString("hex")}`;
  try {
    writeDraft(draft, file);
    linkSync(draft, target);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
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

function writeDraft(draft: string, file: RunnerFile): void {
  const handle = openSync(draft, "wx", 0o600);
  try {
    writeSync(handle, `${JSON.stringify(file)}\n`);
    fdatasyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
