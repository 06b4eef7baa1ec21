import type { Environment } from "../../config/environment.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";
import type { CredentialChoice, PayingAgent } from "../../runner/credential.ts";
import { credentialOf } from "../../runner/open-run.ts";
import { type Finding, failed, ok } from "../check.ts";

/** Agents that the same credential serves, or that lack one for the same reason. */
export interface SignIn {
  agents: string[];
  choice: CredentialChoice;
}

/** Without agents: what one that leaves it open would get. */
export function signInsOf(agents: readonly ResolvedAgent[], env: Environment): SignIn[] {
  if (agents.length === 0) {
    return [{ agents: [], choice: credentialOf({ agent: anybody }, env) }];
  }
  const byChoice = new Map<string, SignIn>();
  for (const agent of agents) {
    const choice = credentialOf({ agent }, env);
    const key = JSON.stringify(choice);
    const same = byChoice.get(key) ?? { agents: [], choice };
    byChoice.set(key, { ...same, agents: [...same.agents, agent.name] });
  }
  return [...byChoice.values()];
}

/** `real` is the environment without `.env`: it tells where a variable was set. */
export function judgeSignIn({ agents, choice }: SignIn, real: Environment): Finding {
  const name = "sign-in";
  const who = agents.length === 0 ? "Here" : agents.join(", ");
  if (choice.kind === "none") return failed(name, `${who}: ${choice.message}.`, choice.hint);
  return ok(name, `${who}: ${credentialText(choice, real)}.`);
}

export function variableOf(choice: CredentialChoice): string | undefined {
  if (choice.kind === "api_key") {
    return choice.upstream.kind === "api_key" ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN";
  }
  const hasToken = choice.kind === "subscription" && choice.oauthToken !== undefined;
  return hasToken ? "CLAUDE_CODE_OAUTH_TOKEN" : undefined;
}

function credentialText(choice: CredentialChoice, real: Environment): string {
  const variable = variableOf(choice);
  if (variable === undefined) return "the subscription, by the login of `claude` on this machine";
  const kind = choice.kind === "api_key" ? "the API key" : "the subscription, by the token";
  const origin = real[variable] === undefined ? "`.env`" : "the environment";
  return `${kind} in ${variable} of ${origin}`;
}

const anybody: PayingAgent = {
  credential: "auto",
  runtime: { type: "cli", stream: "stdout" },
  docker: { enabled: false },
};
