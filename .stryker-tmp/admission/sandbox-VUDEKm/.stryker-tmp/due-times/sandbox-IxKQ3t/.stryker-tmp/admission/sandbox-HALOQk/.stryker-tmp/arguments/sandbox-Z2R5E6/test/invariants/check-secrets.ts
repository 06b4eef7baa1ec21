import { readFileSync, statSync } from "node:fs";
import { ignoreMissing, listPathsBelow } from "../support/list-paths.ts";
import { type ObservedRun, type Violation, violations } from "./observed-run.ts";

/**
 * Checks that no file of the state, of Claude Code or of the agent contains a secret, and that none
 * was visible.
 */
export function checkSecrets(run: ObservedRun, stateDir: string): Violation[] {
  const { harness, secrets = [], observedOutput = [] } = run;
  if (secrets.length === 0) return [];
  const containsSecret = (text: string) => secrets.some((secret) => text.includes(secret));
  const folders = [stateDir, harness.home, harness.workspace, harness.env.TMPDIR ?? ""];
  const files = folders
    .flatMap(listFilesBelow)
    .filter((file) => containsSecret(ignoreMissing(() => readFileSync(file, "latin1")) ?? ""));
  const seen = observedOutput.filter(containsSecret).map((text) => `seen: ${text.slice(0, 100)}`);
  return violations("secret", [...files, ...seen]);
}

function listFilesBelow(folder: string): string[] {
  if (folder === "") return [];
  return listPathsBelow(folder).filter((path) =>
    statSync(path, { throwIfNoEntry: false })?.isFile(),
  );
}
