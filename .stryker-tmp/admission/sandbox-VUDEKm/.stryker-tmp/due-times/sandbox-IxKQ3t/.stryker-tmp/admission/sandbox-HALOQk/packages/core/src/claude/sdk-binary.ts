import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { z } from "zod";
import { executableState } from "../lib/executable-state.ts";

interface SdkClaude {
  path: string;
  version: string | undefined;
}

let cachedBinary: SdkClaude | undefined;

/** The `claude` of the Agent SDK for this machine. Cached as long as the file exists. */
export function getSdkClaude(): SdkClaude | undefined {
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
