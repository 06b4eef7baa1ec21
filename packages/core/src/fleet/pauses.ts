import { createHash } from "node:crypto";
import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { type CredentialsPresent, chooseCredential } from "../runner/credential.ts";
import { hasLogin } from "../runner/login.ts";
import { configDirOf } from "../runner/prepare-run.ts";
import type { Pause, PauseSubject } from "../state/pause.ts";

export function agentSubject(agent: string): PauseSubject {
  return `agent:${agent}`;
}

/**
 * The credential that an agent shares with others, known by a fingerprint: with a new key the pause
 * of the old one no longer concerns anybody.
 */
export function credentialSubject(
  agent: ResolvedAgent,
  environment: Environment,
): PauseSubject | undefined {
  return sharedBy(agent, credentialsIn(environment));
}

/** What holds an agent back, if anything does. This machine is looked at once for all of them. */
export function findPauses(
  environment: Environment,
  pauses: readonly Pause[],
): (agent: ResolvedAgent) => Pause | undefined {
  const isShared = pauses.some(({ subject }) => subject.startsWith("credential:"));
  const present = isShared ? credentialsIn(environment) : undefined;
  return (agent) => {
    if (pauses.length === 0) return undefined;
    const own = agentSubject(agent.name);
    const shared = present && sharedBy(agent, present);
    return pauses.find(({ subject }) => subject === own || subject === shared);
  };
}

function credentialsIn(environment: Environment): CredentialsPresent {
  return {
    apiKey: environment.ANTHROPIC_API_KEY,
    authToken: environment.ANTHROPIC_AUTH_TOKEN,
    oauthToken: environment.CLAUDE_CODE_OAUTH_TOKEN,
    login: hasLogin(configDirOf(environment)),
  };
}

function sharedBy(agent: ResolvedAgent, present: CredentialsPresent): PauseSubject | undefined {
  const choice = chooseCredential(agent, present);
  if (choice.kind === "none") return undefined;
  const secret = choice.kind === "api_key" ? choice.upstream.value : (choice.oauthToken ?? "login");
  const fingerprint = createHash("sha256").update(secret).digest("hex").slice(0, 16);
  return `credential:${choice.kind}:${fingerprint}`;
}
