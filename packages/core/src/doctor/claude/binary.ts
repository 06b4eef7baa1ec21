import { join } from "node:path";
import type { Environment } from "../../config/environment.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { claudeVersion, type FoundClaude, findClaude } from "../../runner/claude-binary.ts";
import { isOlder, oldestClaude, type VersionAnswer } from "../../runner/claude-version.ts";
import { sdkClaudeVersion } from "../../runner/sdk-claude.ts";
import { type Finding, failed, ok, unknown, warning } from "../check.ts";

export interface BinaryFacts {
  found: FoundClaude;
  /** Undefined where none was found. */
  version: VersionAnswer | undefined;
  /** Which Claude Code belongs to the Agent SDK; undefined where that is not installed. */
  tested: string | undefined;
  agents: readonly Pick<ResolvedAgent, "name" | "runtime" | "docker">[];
}

export async function checkBinary(
  agents: readonly ResolvedAgent[],
  given: { claudePath: string | undefined; env: Environment; stateDir: string },
): Promise<Finding[]> {
  const found = findClaude(given);
  const cache = join(given.stateDir, "claude-versions.json");
  const version = found.kind === "found" ? await claudeVersion(found.path, cache) : undefined;
  return judgeBinary({ found, version, tested: sdkClaudeVersion(), agents });
}

/** An agent in a container has the one of its image. */
export function judgeBinary({ found, version, tested, agents }: BinaryFacts): Finding[] {
  const name = "claude";
  const onHost = agents.filter(({ docker }) => !docker.enabled);
  const sdk = tested === undefined ? withoutSdk(onHost) : [];
  const problem = [found, version].find((one) => one?.kind === "problem");
  if (problem?.kind === "problem") {
    if (agents.length > 0 && onHost.length === 0) {
      return [unknown(name, "Not needed here: every agent has the one of its image."), ...sdk];
    }
    return [failed(name, problem.message, problem.hint), ...sdk];
  }
  if (found.kind !== "found" || version?.kind !== "version") return sdk;
  const isNewer = tested !== undefined && isOlder(tested, version.version);
  const range = isNewer
    ? `newer than ${tested}, with which this herdctl was tested`
    : `${oldestClaude} or newer is needed`;
  return [
    ok(name, `Claude Code ${version.version} ${origins[found.source](found.path)}; ${range}.`),
    ...sdk,
  ];
}

const origins: Record<Extract<FoundClaude, { kind: "found" }>["source"], (path: string) => string> =
  {
    claude_path: (path) => `at ${path}, as \`claude_path\` says`,
    path: (path) => `at ${path}, the first on the PATH`,
    sdk: () => "of the Agent SDK, as there is none on the PATH",
  };

function withoutSdk(agents: BinaryFacts["agents"]): Finding[] {
  const needing = agents.filter(({ runtime }) => runtime.type === "sdk").map(({ name }) => name);
  const hint =
    "Install it with `npm install @anthropic-ai/claude-agent-sdk`, or use `runtime: cli`.";
  const message = "The Agent SDK is not installed";
  if (needing.length === 0) return [warning("agent sdk", `${message}.`, hint)];
  return [failed("agent sdk", `${message}, which ${needing.join(", ")} runs on.`, hint)];
}
