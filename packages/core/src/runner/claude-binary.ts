import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { writeFileAtomic } from "../state/atomic-file.ts";
import { isOlder, parseVersion } from "./claude-version.ts";

interface Trouble {
  kind: "problem";
  message: string;
  hint: string;
}

export type FoundClaude = { kind: "found"; path: string } | Trouble;

const installHint = "Install Claude Code, or point `claude_path` in herdctl.yaml to it.";

/** The program that the fleet names, else the one on the PATH, else the one the SDK carries. */
export function findClaude(options: {
  claudePath?: string;
  env: Readonly<Record<string, string | undefined>>;
}): FoundClaude {
  const { claudePath, env } = options;
  if (claudePath !== undefined) {
    if (isProgram(claudePath)) return { kind: "found", path: claudePath };
    return problem(
      `\`claude_path\` is ${claudePath}, which is no program that can be run.`,
      installHint,
    );
  }
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const path = folders.map((folder) => join(folder, "claude")).find(isProgram) ?? bundledClaude();
  return path === undefined
    ? problem("There is no `claude` program on this machine.", installHint)
    : { kind: "found", path };
}

/** The oldest that our tests run. */
export const oldestClaude = "2.1.197";

export type ClaudeVersion = { kind: "known"; version: string } | Trouble;

/** Asked once and remembered: starting the program to ask costs more than all else we do. */
export async function claudeVersion(path: string, cacheFile: string): Promise<ClaudeVersion> {
  const version = bundledVersion(path) ?? (await rememberedVersion(path, cacheFile));
  if (version === undefined) {
    return problem(`${path} does not say which version of Claude Code it is.`, installHint);
  }
  if (!isOlder(version, oldestClaude)) return { kind: "known", version };
  return problem(
    `${path} is Claude Code ${version}; herdctl needs ${oldestClaude} or newer.`,
    "Update it with `claude update`, or remove it: the SDK brings one of its own.",
  );
}

const cacheSchema = z.record(z.string(), z.string());

async function rememberedVersion(path: string, cacheFile: string): Promise<string | undefined> {
  const { size, mtimeMs, ino } = statSync(path);
  const key = `${path} ${size} ${mtimeMs} ${ino}`;
  const cache = await readCache(cacheFile);
  const known = cache[key];
  if (known !== undefined) return known;
  const { stdout } = await execa(path, ["--version"], {
    reject: false,
    stdin: "ignore",
    timeout: 10_000,
  });
  const version = parseVersion(stdout ?? "");
  if (version !== undefined)
    await writeFileAtomic(cacheFile, JSON.stringify({ ...cache, [key]: version }));
  return version;
}

async function readCache(file: string): Promise<Record<string, string>> {
  try {
    return cacheSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return {};
  }
}

const sdk = "@anthropic-ai/claude-agent-sdk";

function bundledClaude(): string | undefined {
  const resolve = sdkRequire()?.resolve;
  const platform = `${process.platform}-${process.arch}`;
  const candidates = [platform, `${platform}-musl`].map((name) => `${sdk}-${name}/package.json`);
  for (const manifest of candidates) {
    const path = resolve && attempt(() => join(dirname(resolve(manifest)), "claude"));
    if (path && isProgram(path)) return path;
  }
  return undefined;
}

/** The SDK says which version of Claude Code it brings along. */
function bundledVersion(path: string): string | undefined {
  if (path !== bundledClaude()) return undefined;
  return attempt(() => {
    const entry = createRequire(import.meta.url).resolve(sdk);
    const manifest = JSON.parse(readFileSync(join(dirname(entry), "package.json"), "utf8"));
    return z.object({ claudeCodeVersion: z.string() }).parse(manifest).claudeCodeVersion;
  });
}

function sdkRequire() {
  return attempt(() => createRequire(createRequire(import.meta.url).resolve(sdk)));
}

function isProgram(path: string): boolean {
  return (
    existsSync(path) &&
    statSync(path).isFile() &&
    attempt(() => accessSync(path, constants.X_OK) ?? true) === true
  );
}

function attempt<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}

function problem(message: string, hint: string): Trouble {
  return { kind: "problem", message, hint };
}
