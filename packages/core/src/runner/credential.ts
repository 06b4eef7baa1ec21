import type { ResolvedAgent } from "../config/resolve.ts";

export interface CredentialsPresent {
  apiKey?: string;
  authToken?: string;
  oauthToken?: string;
  /** The user has signed in with `claude`; what is in there is none of our business. */
  login: boolean;
}

/** Which credential serves a run, and what the program is given of it. */
export type CredentialChoice =
  | { kind: "api_key"; upstream: { kind: "api_key" | "auth_token"; value: string } }
  | { kind: "subscription"; oauthToken?: string }
  | { kind: "none"; message: string; hint: string };

/**
 * The binary prefers an API key to a login, and would bill the API for an agent that was meant
 * for the subscription: so a run is given exactly one of the two.
 */
export function chooseCredential(
  agent: Pick<ResolvedAgent, "credential" | "runtime">,
  present: CredentialsPresent,
): CredentialChoice {
  const subscription = subscriptionOf(present);
  const key = keyOf(present);
  if (agent.credential === "subscription") return subscription ?? notSignedIn;
  if (agent.credential === "api_key") return key ?? noKey;
  if (agent.runtime.type === "cli") return subscription ?? key ?? nothingForCli;
  return key ?? noKeyForSdk;
}

function subscriptionOf({ oauthToken, login }: CredentialsPresent): CredentialChoice | undefined {
  if (oauthToken) return { kind: "subscription", oauthToken };
  return login ? { kind: "subscription" } : undefined;
}

function keyOf({ apiKey, authToken }: CredentialsPresent): CredentialChoice | undefined {
  if (apiKey) return { kind: "api_key", upstream: { kind: "api_key", value: apiKey } };
  return authToken
    ? { kind: "api_key", upstream: { kind: "auth_token", value: authToken } }
    : undefined;
}

const notSignedIn = none(
  "nobody is signed in to Claude Code on this machine",
  "Run `claude` and sign in, or set CLAUDE_CODE_OAUTH_TOKEN (made by `claude setup-token`).",
);
const noKey = none("there is no API key", "Set ANTHROPIC_API_KEY in the environment or in .env.");
const nothingForCli = none(
  "there is neither a login nor an API key",
  "Run `claude` and sign in, or set CLAUDE_CODE_OAUTH_TOKEN or ANTHROPIC_API_KEY.",
);
const noKeyForSdk = none(
  "there is no API key, which the SDK runtime needs",
  "Set ANTHROPIC_API_KEY, or use the subscription with `runtime: cli`.",
);

function none(message: string, hint: string): CredentialChoice {
  return { kind: "none", message, hint };
}
