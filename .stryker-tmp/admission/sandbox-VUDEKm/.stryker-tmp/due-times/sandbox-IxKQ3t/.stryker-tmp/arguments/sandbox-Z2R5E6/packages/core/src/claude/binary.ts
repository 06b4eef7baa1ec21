import { delimiter, isAbsolute, join } from "node:path";
import type { Environment } from "@herdctl/config";
import { type ExecutableState, executableState } from "../lib/executable-state.ts";
import { getSdkClaude } from "./sdk-binary.ts";
import {
  type RuntimeProblem,
  readCachedVersion,
  requireMinVersion,
  runtimeProblem,
  type VersionResult,
} from "./version.ts";

export type FoundClaude =
  | { kind: "found"; path: string; source: "claude_path" | "path" | "sdk" }
  | RuntimeProblem;

/** Finds `claude`: `claude_path` of the fleet file, or on the PATH, or in the Agent SDK. */
export function findClaude(options: { claudePath?: string; env: Environment }): FoundClaude {
  if (options.claudePath !== undefined) return checkConfiguredPath(options.claudePath);
  const onPath = findOnPath(options.env.PATH ?? "");
  if (onPath) return { kind: "found", path: onPath, source: "path" };
  const bundled = getSdkClaude();
  if (bundled) return { kind: "found", path: bundled.path, source: "sdk" };
  return runtimeProblem(
    "There is no `claude` on the PATH, and the Agent SDK has none for this machine.",
  );
}

/** The SDK declares the version of its binary; other binaries are run once, and the version is cached. */
export async function claudeVersion(
  path: string,
  cacheFile: string,
  timeoutMs = 10_000,
): Promise<VersionResult> {
  const bundled = getSdkClaude();
  if (bundled?.path === path && bundled.version) {
    return requireMinVersion(path, { kind: "version", version: bundled.version });
  }
  return requireMinVersion(path, await readCachedVersion(path, cacheFile, timeoutMs));
}

function checkConfiguredPath(path: string): FoundClaude {
  const hint = "Correct `claude_path` in herdctl.yaml, or remove it to use `claude` on the PATH.";
  const state = executableState(path);
  if (state === "runnable") return { kind: "found", path, source: "claude_path" };
  return runtimeProblem(`\`claude_path\` is ${path}, which ${stateTexts[state]}.`, hint);
}

const stateTexts: Record<Exclude<ExecutableState, "runnable">, string> = {
  missing: "does not exist",
  out_of_reach: "cannot be reached",
  no_file: "is not a file",
  not_executable: "is not executable",
};

/** Skips relative entries, which would depend on the current folder. */
function findOnPath(path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, "claude"))
    .find((file) => executableState(file) === "runnable");
}
