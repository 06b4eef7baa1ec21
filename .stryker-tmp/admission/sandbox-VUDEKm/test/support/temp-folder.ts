import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { TestResult } from "./cleanup-after-failure.ts";

/** Registers a cleanup step for the end of a test. */
export type RegisterCleanup = (step: (over?: TestResult) => void | Promise<void>) => void;

/** A temporary folder with these files, removed at the end of the test. */
export function tempFolderWith(
  files: Record<string, string>,
  onCleanup: RegisterCleanup = onTestFinished,
): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
