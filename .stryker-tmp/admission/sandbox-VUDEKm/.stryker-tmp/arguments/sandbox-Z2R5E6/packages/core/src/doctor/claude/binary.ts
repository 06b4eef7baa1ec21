import { join } from "node:path";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import { claudeVersion, type FoundClaude, findClaude } from "../../claude/binary.ts";
import { sdkClaudeVersion } from "../../claude/sdk-binary.ts";
import { isOlder, minClaudeVersion, type VersionResult } from "../../claude/version.ts";
import { type Finding, failed, notChecked, ok, warning } from "../check.ts";

export interface BinaryFacts {
  found: FoundClaude;
  /** Undefined if no binary was found. */
  version: VersionResult | undefined;
  /** The Claude Code version of the Agent SDK; undefined if the SDK is not installed. */
  testedVersion: string | undefined;
  agents: readonly Pick<ResolvedAgent, "name" | "runtime" | "docker">[];
}

export async function checkBinary(
  agents: readonly ResolvedAgent[],
  binaryLookup: { claudePath: string | undefined; env: Environment; stateDir: string },
): Promise<Finding[]> {
  const found = findClaude(binaryLookup);
  const cache = join(binaryLookup.stateDir, "claude-versions.json");
  const version = found.kind === "found" ? await claudeVersion(found.path, cache) : undefined;
  return evaluateBinary({ found, version, testedVersion: sdkClaudeVersion(), agents });
}

/** Agents in containers use the binary of their image. */
export function evaluateBinary({ found, version, testedVersion, agents }: BinaryFacts): Finding[] {
  const name = "claude";
  const onHost = agents.filter(({ docker }) => !docker.enabled);
  const sdk = testedVersion === undefined ? sdkMissingFindings(onHost) : [];
  const problem = [found, version].find((result) => result?.kind === "problem");
  if (problem?.kind === "problem") {
    if (agents.length > 0 && onHost.length === 0) {
      return [notChecked(name, "Not needed: every agent uses the one in its image."), ...sdk];
    }
    return [failed(name, problem.message, problem.hint), ...sdk];
  }
  if (found.kind !== "found" || version?.kind !== "version") return sdk;
  const isNewer = testedVersion !== undefined && isOlder(testedVersion, version.version);
  const range = isNewer
    ? `newer than ${testedVersion}, the version this herdctl was tested with`
    : `${minClaudeVersion} or newer is required`;
  return [
    ok(
      name,
      `Claude Code ${version.version} ${describeSource[found.source](found.path)}; ${range}.`,
    ),
    ...sdk,
  ];
}

const describeSource: Record<
  Extract<FoundClaude, { kind: "found" }>["source"],
  (path: string) => string
> = {
  claude_path: (path) => `at ${path}, from \`claude_path\``,
  path: (path) => `at ${path}, the first on the PATH`,
  sdk: () => "from the Agent SDK, because there is none on the PATH",
};

function sdkMissingFindings(agents: BinaryFacts["agents"]): Finding[] {
  const agentsNeedingSdk = agents
    .filter(({ runtime }) => runtime.type === "sdk")
    .map(({ name }) => name);
  const hint =
    "Install it with `npm install @anthropic-ai/claude-agent-sdk`, or use `runtime: cli`.";
  const message = "The Agent SDK is not installed";
  if (agentsNeedingSdk.length === 0) return [warning("agent sdk", `${message}.`, hint)];
  return [
    failed("agent sdk", `${message}. It is required by ${agentsNeedingSdk.join(", ")}.`, hint),
  ];
}
