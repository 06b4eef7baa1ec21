import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Over } from "./leftovers.ts";

/** Has a step done when a test, or whatever stands for one, is over. */
export type WhenOver = (step: (over?: Over) => void | Promise<void>) => void;

/** A temp folder with these files, gone when the test is over. */
export function folderWith(
  files: Record<string, string>,
  whenOver: WhenOver = onTestFinished,
): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-"));
  whenOver(() => rmSync(folder, { recursive: true, force: true }));
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
