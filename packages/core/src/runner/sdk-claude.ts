import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { z } from "zod";
import { stateOf } from "./file-state.ts";

interface SdkClaude {
  path: string;
  version: string | undefined;
}

let carried: SdkClaude | undefined;

/** The program that the Agent SDK carries for this machine; looked for again only when it has gone. */
export function sdkClaude(): SdkClaude | undefined {
  if (carried === undefined || stateOf(carried.path) !== "runnable") carried = findCarried();
  return carried;
}

function findCarried(): SdkClaude | undefined {
  const path = platforms()
    .map(sdkBinary)
    .find((file) => file !== undefined);
  return path === undefined ? undefined : { path, version: sdkClaudeVersion() };
}

/** The one that it carries for such a machine, such as `linux-x64`. */
export function sdkBinary(platform: string): string | undefined {
  const sdk = sdkEntry();
  if (sdk === undefined) return undefined;
  const manifest = tryResolve(sdk, `@anthropic-ai/claude-agent-sdk-${platform}/package.json`);
  if (manifest === undefined) return undefined;
  const file = join(dirname(manifest), "claude");
  return stateOf(file) === "runnable" ? file : undefined;
}

const sdkManifest = z.object({ claudeCodeVersion: z.string().optional() });

/** Which Claude Code belongs to the SDK, known without running it. */
export function sdkClaudeVersion(): string | undefined {
  const sdk = sdkEntry();
  if (sdk === undefined) return undefined;
  const manifest: unknown = JSON.parse(readFileSync(join(dirname(sdk), "package.json"), "utf8"));
  return sdkManifest.parse(manifest).claudeCodeVersion;
}

function sdkEntry(): string | undefined {
  return tryResolve(import.meta.url, "@anthropic-ai/claude-agent-sdk");
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
