import { delimiter, isAbsolute, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import {
  checkAge,
  type RuntimeProblem,
  rememberVersion,
  runtimeProblem,
  type VersionAnswer,
} from "./claude-version.ts";
import { type FileState, stateOf } from "./file-state.ts";
import { sdkClaude } from "./sdk-claude.ts";

export type FoundClaude =
  | { kind: "found"; path: string; source: "claude_path" | "path" | "sdk" }
  | RuntimeProblem;

/** The one that the fleet file names, else the one on the PATH, else the one the SDK carries. */
export function findClaude(given: { claudePath?: string; env: Environment }): FoundClaude {
  if (given.claudePath !== undefined) return checkNamed(given.claudePath);
  const onPath = findOnPath(given.env.PATH ?? "");
  if (onPath) return { kind: "found", path: onPath, source: "path" };
  const carried = sdkClaude();
  if (carried) return { kind: "found", path: carried.path, source: "sdk" };
  return runtimeProblem(
    "There is no `claude` on the PATH, and the Agent SDK carries none for this machine.",
  );
}

/** What the SDK carries is known without running it; others are asked once and remembered. */
export async function claudeVersion(
  path: string,
  cacheFile: string,
  patience = 10_000,
): Promise<VersionAnswer> {
  const carried = sdkClaude();
  if (carried?.path === path && carried.version) {
    return checkAge(path, { kind: "version", version: carried.version });
  }
  return checkAge(path, await rememberVersion(path, cacheFile, patience));
}

function checkNamed(path: string): FoundClaude {
  const hint = "Correct `claude_path` in herdctl.yaml, or remove it to use `claude` of the PATH.";
  const state = stateOf(path);
  if (state === "runnable") return { kind: "found", path, source: "claude_path" };
  return runtimeProblem(`\`claude_path\` names ${path}, which ${wrongs[state]}.`, hint);
}

const wrongs: Record<Exclude<FileState, "runnable">, string> = {
  missing: "does not exist",
  out_of_reach: "cannot be reached",
  no_file: "is not a file",
  not_executable: "may not be executed",
};

/** A relative entry would let the folder we happen to stand in decide what runs. */
function findOnPath(path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, "claude"))
    .find((file) => stateOf(file) === "runnable");
}
