import { join } from "node:path";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import {
  claudeVersion,
  type FoundClaude,
  findClaude,
  isOlder,
  minClaudeVersion,
  sdkClaudeVersion,
  type VersionResult,
} from "../../claude/binary.ts";
import type { CredentialAgent, CredentialChoice } from "../../claude/credential.ts";
import { providerSpecs } from "../../claude/provider/specs.ts";
import { credentialOf } from "../../runner/execution/open-run.ts";
import { type Finding, failed, notChecked, ok, warning } from "../check.ts";

interface BinaryFacts {
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

/** Agents with the same credential, or with the same reason for having none. */
export interface AgentCredential {
  agents: string[];
  choice: CredentialChoice;
}

/** Without agents: the credential of an agent with default settings. */
export function groupAgentCredentials(
  agents: readonly ResolvedAgent[],
  env: Environment,
): AgentCredential[] {
  if (agents.length === 0) {
    return [{ agents: [], choice: credentialOf({ agent: defaultAgent }, env) }];
  }
  const byChoice = new Map<string, AgentCredential>();
  for (const agent of agents) {
    const choice = credentialOf({ agent }, env);
    const key = JSON.stringify(choice);
    const group = byChoice.get(key) ?? { agents: [], choice };
    byChoice.set(key, { ...group, agents: [...group.agents, agent.name] });
  }
  return [...byChoice.values()];
}

/** `processEnvironment` excludes `.env`; it shows where a variable was set. */
export function evaluateCredential(
  { agents, choice }: AgentCredential,
  processEnvironment: Environment,
): Finding {
  const name = "sign-in";
  const agentNames = agents.length === 0 ? "Here" : agents.join(", ");
  if (choice.kind === "none") return failed(name, `${agentNames}: ${choice.message}.`, choice.hint);
  const description = `${agentNames}: ${describeCredential(choice, processEnvironment)}.`;
  if (choice.kind === "subscription" && choice.byDefault) return inContainer(name, description);
  return ok(name, description);
}

function inContainer(name: string, description: string): Finding {
  return warning(
    name,
    `${description} The container can read it, so an agent that obeys hostile text could pass it on.`,
    "With an API key (ANTHROPIC_API_KEY), nothing is in the container. To accept this, set `docker.auth: mount` or `env` in the fleet file.",
  );
}

/** For agents that cannot sign in: who, why and how to fix it. */
export function findSignInProblems(
  agents: readonly ResolvedAgent[],
  env: Environment,
): { agents: string[]; message: string; hint: string }[] {
  if (agents.length === 0) return [];
  return groupAgentCredentials(agents, env).flatMap(({ agents: names, choice }) =>
    choice.kind === "none" ? [{ agents: names, message: choice.message, hint: choice.hint }] : [],
  );
}

export function credentialVariable(choice: CredentialChoice): string | undefined {
  if (choice.kind === "api_key") {
    return choice.upstream.kind === "api_key" ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN";
  }
  const hasToken = choice.kind === "subscription" && choice.oauthToken !== undefined;
  return hasToken ? "CLAUDE_CODE_OAUTH_TOKEN" : undefined;
}

function describeCredential(choice: CredentialChoice, processEnvironment: Environment): string {
  if (choice.kind === "provider") {
    const { type, region, credential } = choice.provider;
    const place = region === undefined ? "" : ` in ${region}`;
    return `${providerSpecs[type].label}${place}, with the credential from ${credential.source}`;
  }
  const variable = credentialVariable(choice);
  if (variable === undefined) return "the subscription, with the login of `claude` on this machine";
  const kind = choice.kind === "api_key" ? "the API key" : "the subscription, with the token";
  const origin = processEnvironment[variable] === undefined ? "`.env`" : "the environment";
  return `${kind} in ${variable} from ${origin}`;
}

const defaultAgent: CredentialAgent = {
  credential: "auto",
  runtime: { type: "cli", stream: "stdout" },
  docker: { enabled: false, network: "none" },
};
