import type { Environment, ResolvedAgent } from "@herdctl/config";
import type { CredentialAgent, CredentialChoice } from "../../claude/credential.ts";
import { credentialOf } from "../../runner/execution/open-run.ts";
import { type Finding, failed, ok } from "../check.ts";

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
  return ok(name, `${agentNames}: ${describeCredential(choice, processEnvironment)}.`);
}

export function credentialVariable(choice: CredentialChoice): string | undefined {
  if (choice.kind === "api_key") {
    return choice.upstream.kind === "api_key" ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN";
  }
  const hasToken = choice.kind === "subscription" && choice.oauthToken !== undefined;
  return hasToken ? "CLAUDE_CODE_OAUTH_TOKEN" : undefined;
}

function describeCredential(choice: CredentialChoice, processEnvironment: Environment): string {
  const variable = credentialVariable(choice);
  if (variable === undefined) return "the subscription, with the login of `claude` on this machine";
  const kind = choice.kind === "api_key" ? "the API key" : "the subscription, with the token";
  const origin = processEnvironment[variable] === undefined ? "`.env`" : "the environment";
  return `${kind} in ${variable} from ${origin}`;
}

const defaultAgent: CredentialAgent = {
  credential: "auto",
  runtime: { type: "cli", stream: "stdout" },
  docker: { enabled: false },
};
