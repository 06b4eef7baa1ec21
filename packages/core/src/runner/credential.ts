import type { ResolvedAgent } from "../config/resolve.ts";

export interface CredentialsPresent {
  apiKey?: string;
  authToken?: string;
  oauthToken?: string;
  /** The user has signed in with `claude`; what is in there is none of our business. */
  login: boolean;
}

export type PayingAgent = Pick<ResolvedAgent, "credential" | "runtime"> & {
  docker: Pick<ResolvedAgent["docker"], "enabled" | "auth">;
};

/** Which credential serves a run, and what the program is given of it. */
export type CredentialChoice =
  | {
      kind: "api_key";
      upstream: { kind: "api_key" | "auth_token"; value: string };
      /** The container is given it and shows it itself; else only the gateway has it. */
      inside?: boolean;
    }
  | { kind: "subscription"; oauthToken?: string }
  | { kind: "none"; message: string; hint: string };

export type UsableCredential = Exclude<CredentialChoice, { kind: "none" }>;

/**
 * The binary prefers an API key to a login, and would bill the API for an agent that was meant
 * for the subscription: so a run is given exactly one of the two.
 */
export function chooseCredential(
  agent: PayingAgent,
  present: CredentialsPresent,
): CredentialChoice {
  if (agent.docker.enabled) return chooseForContainer(agent, present);
  const subscription = subscriptionOf(present);
  const key = keyOf(present);
  if (agent.credential === "subscription") return subscription ?? notSignedIn;
  if (agent.credential === "api_key") return key ?? noKey;
  if (agent.runtime.type === "cli") return subscription ?? key ?? nothingForCli;
  return key ?? noKeyForSdk;
}

/** What a container holds is the operator's choice, and never a matter of what happens to be there. */
function chooseForContainer(
  { credential, docker }: PayingAgent,
  present: CredentialsPresent,
): CredentialChoice {
  const key = keyOf(present);
  if (docker.auth === "mount") {
    if (credential === "api_key") return keyIsNoFile;
    return present.login ? { kind: "subscription" } : notSignedIn;
  }
  if (docker.auth === "env") {
    const { oauthToken } = present;
    if (oauthToken && credential !== "api_key") return { kind: "subscription", oauthToken };
    return key && credential !== "subscription" ? { ...key, inside: true } : nothingForEnv;
  }
  if (credential === "subscription") return subscriptionNeedsAWay;
  return key ?? (docker.auth === "gateway" ? noKey : noWayIn);
}

function subscriptionOf({ oauthToken, login }: CredentialsPresent): CredentialChoice | undefined {
  if (oauthToken) return { kind: "subscription", oauthToken };
  return login ? { kind: "subscription" } : undefined;
}

function keyOf({ apiKey, authToken }: CredentialsPresent) {
  if (apiKey) return apiKeyChoice("api_key", apiKey);
  return authToken ? apiKeyChoice("auth_token", authToken) : undefined;
}

function apiKeyChoice(kind: "api_key" | "auth_token", value: string) {
  return { kind: "api_key" as const, upstream: { kind, value } };
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

const ways =
  "Set ANTHROPIC_API_KEY (it stays outside), or for a subscription choose `docker.auth: env` with CLAUDE_CODE_OAUTH_TOKEN, or `docker.auth: mount`, in the fleet file.";
const noWayIn = none("there is no API key, and no other way into the container was chosen", ways);
const subscriptionNeedsAWay = none(
  "the gateway holds API keys only, not a subscription",
  "Choose `docker.auth: env` with CLAUDE_CODE_OAUTH_TOKEN, or `docker.auth: mount`, in the fleet file.",
);
const nothingForEnv = none(
  "`docker.auth: env` finds no variable to pass on",
  "Set CLAUDE_CODE_OAUTH_TOKEN (made by `claude setup-token`) or ANTHROPIC_API_KEY.",
);
const keyIsNoFile = none(
  "`docker.auth: mount` gives the login file, which holds no API key",
  "Use `docker.auth: gateway`, or `credential: subscription`.",
);

function none(message: string, hint: string): CredentialChoice {
  return { kind: "none", message, hint };
}
