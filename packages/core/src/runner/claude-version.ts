import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { writeFileAtomic } from "../state/atomic-file.ts";
import { outcomes } from "./outcomes.ts";
import { runToEnd } from "./sweep/run-to-end.ts";

export const oldestClaude = "2.1.197";

export interface RuntimeProblem {
  kind: "problem";
  code: "runtime_missing";
  message: string;
  hint: string;
}

export type VersionAnswer = { kind: "version"; version: string } | RuntimeProblem;

const stampSchema = z.object({ size: z.number(), mtime: z.number(), inode: z.number() });
const cacheSchema = z.record(z.string(), z.object({ file: stampSchema, version: z.string() }));
type Cache = z.infer<typeof cacheSchema>;

/** What this process was told; the file is for those that come after it. */
const told = new Map<string, Cache[string]>();

/** Runs `claude --version` only when the file is not the one that answered last time. */
export async function rememberVersion(
  path: string,
  cacheFile: string,
  patience: number,
): Promise<VersionAnswer> {
  const file = await stampOf(path);
  const isSame = (last: Cache[string] | undefined) =>
    file !== undefined && isDeepStrictEqual(last?.file, file);
  const heard = told.get(path);
  if (heard && isSame(heard)) return { kind: "version", version: heard.version };
  const cache = await readCache(cacheFile);
  const last = cache[path];
  if (last && isSame(last)) {
    told.set(path, last);
    return { kind: "version", version: last.version };
  }
  const answer = await askVersion(path, patience);
  // An old one is asked again: a person who was told to update it may do so behind a wrapper.
  if (file && answer.kind === "version" && !isOlder(answer.version, oldestClaude)) {
    const now = { file, version: answer.version };
    told.set(path, now);
    await writeCache(cacheFile, { ...cache, [path]: now });
  }
  return answer;
}

export function checkAge(path: string, answer: VersionAnswer): VersionAnswer {
  if (answer.kind === "problem" || !isOlder(answer.version, oldestClaude)) return answer;
  return runtimeProblem(
    `${path} is version ${answer.version}; herdctl needs ${oldestClaude} or newer.`,
    "Update it with `claude update`, or point `claude_path` in herdctl.yaml to a newer one.",
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
  const [own, other] = [version, than].map((text) => text.split(".").map(Number));
  const difference = own?.map((part, index) => part - (other?.[index] ?? 0)).find((by) => by !== 0);
  return (difference ?? 0) < 0;
}

async function stampOf(path: string): Promise<z.infer<typeof stampSchema> | undefined> {
  try {
    const { size, mtimeMs, ino } = await stat(path);
    return { size, mtime: mtimeMs, inode: ino };
  } catch {
    return undefined;
  }
}

async function askVersion(path: string, patience: number): Promise<VersionAnswer> {
  const hint = "Check that it is Claude Code, or set another `claude_path` in herdctl.yaml.";
  const late = AbortSignal.timeout(patience);
  const program = { file: path, args: ["--version"], cwd: tmpdir(), env: ownPath() };
  try {
    const { stdout, failure, code } = await runToEnd(program, late);
    const version = parseVersion(stdout);
    if (version !== undefined) return { kind: "version", version };
    const why = failure ? `could not be started (${failure})` : `did not say its version`;
    return runtimeProblem(`${path} ${why}${code ? ` and exited with ${code}` : ""}.`, hint);
  } catch (error) {
    if (!late.aborted) throw error;
    return runtimeProblem(`${path} did not say its version in ${patience / 1_000} s.`, hint);
  }
}

function ownPath(): Record<string, string> {
  return process.env.PATH === undefined ? {} : { PATH: process.env.PATH };
}

/** Damage costs one more question, not the run. */
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
