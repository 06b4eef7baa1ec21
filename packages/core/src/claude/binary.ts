import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Environment } from "@herdctl/config";
import { outcomes } from "@herdctl/protocol";
import { z } from "zod";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { runProgram } from "../process-tree/host-command.ts";

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

interface SdkClaude {
  path: string;
  version: string | undefined;
}

let cachedBinary: SdkClaude | undefined;

/** The `claude` of the Agent SDK for this machine. Cached as long as the file exists. */
function getSdkClaude(): SdkClaude | undefined {
  if (cachedBinary === undefined || executableState(cachedBinary.path) !== "runnable")
    cachedBinary = findSdkClaude();
  return cachedBinary;
}

function findSdkClaude(): SdkClaude | undefined {
  const path = candidatePlatforms()
    .map(sdkBinaryPath)
    .find((file) => file !== undefined);
  return path === undefined ? undefined : { path, version: sdkClaudeVersion() };
}

/** The SDK's binary for a platform such as `linux-x64`. */
export function sdkBinaryPath(platform: string): string | undefined {
  const sdk = sdkEntry();
  if (sdk === undefined) return undefined;
  const manifest = tryResolve(sdk, `@anthropic-ai/claude-agent-sdk-${platform}/package.json`);
  if (manifest === undefined) return undefined;
  const file = join(dirname(manifest), "claude");
  return executableState(file) === "runnable" ? file : undefined;
}

const sdkManifest = z.object({ claudeCodeVersion: z.string().optional() });

/** The Claude Code version of the SDK, from its manifest. */
export function sdkClaudeVersion(): string | undefined {
  const sdk = sdkEntry();
  if (sdk === undefined) return undefined;
  const manifest: unknown = JSON.parse(readFileSync(join(dirname(sdk), "package.json"), "utf8"));
  return sdkManifest.parse(manifest).claudeCodeVersion;
}

function sdkEntry(): string | undefined {
  return tryResolve(import.meta.url, "@anthropic-ai/claude-agent-sdk");
}

/** The best match first; an installer may have installed both. */
function candidatePlatforms(): string[] {
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

export const minClaudeVersion = "2.1.197";

export interface RuntimeProblem {
  kind: "problem";
  code: "runtime_missing";
  message: string;
  hint: string;
}

export type VersionResult = { kind: "version"; version: string } | RuntimeProblem;

const stampSchema = z.object({ size: z.number(), mtime: z.number(), inode: z.number() });
const cacheSchema = z.record(z.string(), z.object({ file: stampSchema, version: z.string() }));
type Cache = z.infer<typeof cacheSchema>;

/** Cache of this process; the cache file is for later processes. */
const memoryCache = new Map<string, Cache[string]>();

/** Runs `claude --version` only if the file has changed since the last time. */
async function readCachedVersion(
  path: string,
  cacheFile: string,
  timeoutMs: number,
): Promise<VersionResult> {
  const file = await readFileStamp(path);
  const isSame = (last: Cache[string] | undefined) =>
    file !== undefined && isDeepStrictEqual(last?.file, file);
  const cachedInMemory = memoryCache.get(path);
  if (cachedInMemory && isSame(cachedInMemory))
    return { kind: "version", version: cachedInMemory.version };
  const cache = await readCache(cacheFile);
  const last = cache[path];
  if (last && isSame(last)) {
    memoryCache.set(path, last);
    return { kind: "version", version: last.version };
  }
  const result = await runVersionCommand(path, timeoutMs);
  // Old versions are not cached: the file may be a wrapper, which an update does not change.
  if (file && result.kind === "version" && !isOlder(result.version, minClaudeVersion)) {
    const entry = { file, version: result.version };
    memoryCache.set(path, entry);
    await writeCache(cacheFile, { ...cache, [path]: entry });
  }
  return result;
}

function requireMinVersion(path: string, result: VersionResult): VersionResult {
  if (result.kind === "problem" || !isOlder(result.version, minClaudeVersion)) return result;
  return runtimeProblem(
    `${path} is version ${result.version}; herdctl needs ${minClaudeVersion} or newer.`,
    "Update it with `claude update`, or set `claude_path` in herdctl.yaml to a newer one.",
  );
}

function runtimeProblem(
  message: string,
  hint: string = outcomes.runtime_missing.hint,
): RuntimeProblem {
  return { kind: "problem", code: "runtime_missing", message, hint };
}

export function parseVersion(output: string): string | undefined {
  return /^v?(\d+\.\d+\.\d+)(?![\d.])/.exec(output.trim())?.[1];
}

export function isOlder(version: string, than: string): boolean {
  const [parts, otherParts] = [version, than].map((text) => text.split(".").map(Number));
  const difference = parts
    ?.map((part, index) => part - (otherParts?.[index] ?? 0))
    .find((delta) => delta !== 0);
  return (difference ?? 0) < 0;
}

async function readFileStamp(path: string): Promise<z.infer<typeof stampSchema> | undefined> {
  try {
    const { size, mtimeMs, ino } = await stat(path);
    return { size, mtime: mtimeMs, inode: ino };
  } catch {
    return undefined;
  }
}

async function runVersionCommand(path: string, timeoutMs: number): Promise<VersionResult> {
  const hint = "Check that it is Claude Code, or set another `claude_path` in herdctl.yaml.";
  const timeoutSignal = AbortSignal.timeout(timeoutMs);
  const program = { file: path, args: ["--version"], cwd: tmpdir(), env: pathEnvironment() };
  try {
    const { stdout, failure, code } = await runProgram(program, timeoutSignal);
    const version = parseVersion(stdout);
    if (version !== undefined) return { kind: "version", version };
    const why = failure ? `could not be started (${failure})` : "did not print its version";
    return runtimeProblem(`${path} ${why}${code ? ` and exited with ${code}` : ""}.`, hint);
  } catch (error) {
    if (!timeoutSignal.aborted) throw error;
    return runtimeProblem(`${path} did not print its version within ${timeoutMs / 1_000} s.`, hint);
  }
}

function pathEnvironment(): Record<string, string> {
  return process.env.PATH === undefined ? {} : { PATH: process.env.PATH };
}

/** A damaged cache is ignored; `claude --version` then runs again. */
async function readCache(file: string): Promise<Cache> {
  try {
    return cacheSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return {};
  }
}

async function writeCache(file: string, cache: Cache): Promise<void> {
  await writeFileAtomic(file, JSON.stringify(cache)).catch(() => undefined);
}

type ExecutableState = "runnable" | "missing" | "out_of_reach" | "no_file" | "not_executable";

/** Whether a file can be executed, and if not, why. */
function executableState(path: string): ExecutableState {
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
