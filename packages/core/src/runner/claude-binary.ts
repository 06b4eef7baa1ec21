import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import type { Environment } from "../config/environment.ts";
import {
  checkAge,
  type RuntimeProblem,
  rememberVersion,
  runtimeProblem,
  type VersionAnswer,
} from "./claude-version.ts";

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

type FileState = "runnable" | "missing" | "out_of_reach" | "no_file" | "not_executable";

const wrongs: Record<Exclude<FileState, "runnable">, string> = {
  missing: "does not exist",
  out_of_reach: "cannot be reached",
  no_file: "is not a file",
  not_executable: "may not be executed",
};

function stateOf(path: string): FileState {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "missing";
    if (!stat.isFile()) return "no_file";
  } catch {
    return "out_of_reach";
  }
  try {
    accessSync(path, constants.X_OK);
    return "runnable";
  } catch {
    return "not_executable";
  }
}

/** A relative entry would let the folder we happen to stand in decide what runs. */
function findOnPath(path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, "claude"))
    .find((file) => stateOf(file) === "runnable");
}

const sdkManifest = z.object({ claudeCodeVersion: z.string().optional() });

let carried: SdkClaude | undefined;

interface SdkClaude {
  path: string;
  version: string | undefined;
}

/** Looked for once; again only when it has gone from where it was. */
function sdkClaude(): SdkClaude | undefined {
  if (carried === undefined || stateOf(carried.path) !== "runnable") carried = findInSdk();
  return carried;
}

function findInSdk(): SdkClaude | undefined {
  const sdk = tryResolve(import.meta.url, "@anthropic-ai/claude-agent-sdk");
  if (sdk === undefined) return undefined;
  const path = platforms()
    .map((platform) => `@anthropic-ai/claude-agent-sdk-${platform}/package.json`)
    .map((manifest) => tryResolve(sdk, manifest))
    .flatMap((manifest) => (manifest ? [join(dirname(manifest), "claude")] : []))
    .find((file) => stateOf(file) === "runnable");
  if (path === undefined) return undefined;
  const manifest: unknown = JSON.parse(readFileSync(join(dirname(sdk), "package.json"), "utf8"));
  return { path, version: sdkManifest.parse(manifest).claudeCodeVersion };
}

/** The one that fits best first; an installer may have fetched both. */
function platforms(): string[] {
  const plain = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [plain];
  return hasMusl() ? [`${plain}-musl`, plain] : [plain, `${plain}-musl`];
}

function hasMusl(): boolean {
  return readdirSync("/lib").some((name) => name.startsWith("ld-musl-"));
}

function tryResolve(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}
