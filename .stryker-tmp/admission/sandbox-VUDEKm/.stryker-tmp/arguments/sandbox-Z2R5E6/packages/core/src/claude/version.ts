import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { outcomes } from "@herdctl/protocol";
import { z } from "zod";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { runProgram } from "../process-tree/run-program.ts";

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
export async function readCachedVersion(
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

export function requireMinVersion(path: string, result: VersionResult): VersionResult {
  if (result.kind === "problem" || !isOlder(result.version, minClaudeVersion)) return result;
  return runtimeProblem(
    `${path} is version ${result.version}; herdctl needs ${minClaudeVersion} or newer.`,
    "Update it with `claude update`, or set `claude_path` in herdctl.yaml to a newer one.",
  );
}

export function runtimeProblem(
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
