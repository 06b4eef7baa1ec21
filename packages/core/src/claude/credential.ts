import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  type Environment,
  type LoginAgent,
  mayUseLoginByDefault,
  type ResolvedAgent,
} from "@herdctl/config";
import type { Job } from "@herdctl/protocol";
import { type ResolvedProvider, resolveProvider } from "./provider/resolve-provider.ts";

export interface AvailableCredentials {
  apiKey?: string;
  authToken?: string;
  oauthToken?: string;
  /** Whether the user has signed in with `claude`; herdctl does not read the login itself. */
  login: boolean;
}

export type CredentialAgent = LoginAgent &
  Partial<Pick<ResolvedAgent, "provider">> & { docker: Pick<ResolvedAgent["docker"], "enabled"> };

/** The credential of a run, and what the program receives of it. */
export type CredentialChoice =
  | {
      kind: "api_key";
      upstream: { kind: "api_key" | "auth_token"; value: string };
      /** The container receives the key and sends it itself; otherwise only the gateway has it. */
      inside?: boolean;
    }
  | {
      kind: "subscription";
      oauthToken?: string;
      /** A container has it because no other credential was found or chosen. */
      byDefault?: boolean;
    }
  /** A service other than the Anthropic API. The gateway holds its credential. */
  | { kind: "provider"; provider: ResolvedProvider }
  | { kind: "none"; message: string; hint: string };

export type UsableCredential = Exclude<CredentialChoice, { kind: "none" }>;

/** The credential of an agent in this environment, from its provider if that is not the Anthropic API. */
export function chooseAgentCredential(
  agent: CredentialAgent,
  environment: Environment,
): CredentialChoice {
  return (
    resolveAgentProvider(agent, environment) ?? chooseCredential(agent, credentialsIn(environment))
  );
}

/** The choice of a subscription or an API key outranks the switches of the environment. */
function resolveAgentProvider({ provider, credential }: CredentialAgent, environment: Environment) {
  const isForAnthropic = provider === undefined && credential !== "auto";
  return isForAnthropic ? undefined : resolveProvider(provider, environment);
}

function credentialsIn(environment: Environment): AvailableCredentials {
  return {
    apiKey: environment.ANTHROPIC_API_KEY,
    authToken: environment.ANTHROPIC_AUTH_TOKEN,
    oauthToken: environment.CLAUDE_CODE_OAUTH_TOKEN,
    login: hasLogin(configDirOf(environment)),
  };
}

/** For the job record: the provider and where its credential came from. */
export function servedBy(choice: CredentialChoice | undefined): Job["provider"] {
  if (choice?.kind !== "provider") return null;
  const { type, credential } = choice.provider;
  return { type, credential: credential.source };
}

/** Identifies a credential, to tell whether it was replaced. It contains secrets. */
export function credentialIdentity(choice: UsableCredential): string {
  if (choice.kind === "provider") {
    const { type, credential } = choice.provider;
    return JSON.stringify([type, credential]);
  }
  return choice.kind === "api_key" ? choice.upstream.value : (choice.oauthToken ?? "login");
}

/**
 * Chooses exactly one credential for a run. With both, the binary would prefer the API key and bill
 * the API for an agent that should use the subscription.
 */
export function chooseCredential(
  agent: CredentialAgent,
  available: AvailableCredentials,
): CredentialChoice {
  if (agent.docker.enabled) return chooseForContainer(agent, available);
  const subscription = subscriptionOf(available);
  const key = keyOf(available);
  if (agent.credential === "subscription") return subscription ?? notSignedIn;
  if (agent.credential === "api_key") return key ?? noKey;
  if (agent.runtime.type === "cli") return subscription ?? key ?? noCliCredential;
  return key ?? noKeyForSdk;
}

/**
 * With `docker.auth`, the operator chooses the credential of a container, whatever is available.
 * Otherwise an API key stays in the gateway, and an agent for the subscription gets the login.
 */
function chooseForContainer(
  agent: CredentialAgent,
  available: AvailableCredentials,
): CredentialChoice {
  const { credential, docker } = agent;
  const key = keyOf(available);
  if (docker.auth === "mount") {
    if (credential === "api_key") return mountHoldsNoKey;
    return available.login ? { kind: "subscription" } : notSignedIn;
  }
  if (docker.auth === "env") {
    const { oauthToken } = available;
    if (oauthToken && credential !== "api_key") return { kind: "subscription", oauthToken };
    return key && credential !== "subscription" ? { ...key, inside: true } : noEnvCredential;
  }
  if (docker.auth === "gateway")
    return credential === "subscription" ? gatewayNeedsKey : (key ?? noKey);
  const login = mayUseLoginByDefault(agent) ? loginByDefault(available) : undefined;
  if (credential === "subscription") return login ?? noContainerLogin;
  return key ?? login ?? noContainerCredential;
}

function loginByDefault(available: AvailableCredentials): CredentialChoice | undefined {
  const subscription = subscriptionOf(available);
  return subscription && { ...subscription, byDefault: true };
}

function subscriptionOf({ oauthToken, login }: AvailableCredentials) {
  const kind = "subscription" as const;
  if (oauthToken) return { kind, oauthToken };
  return login ? { kind } : undefined;
}

function keyOf({ apiKey, authToken }: AvailableCredentials) {
  if (apiKey) return apiKeyChoice("api_key", apiKey);
  return authToken ? apiKeyChoice("auth_token", authToken) : undefined;
}

function apiKeyChoice(kind: "api_key" | "auth_token", value: string) {
  return { kind: "api_key" as const, upstream: { kind, value } };
}

const notSignedIn = noCredential(
  "no user is signed in to Claude Code on this machine",
  "Run `claude` and sign in, or set CLAUDE_CODE_OAUTH_TOKEN (from `claude setup-token`).",
);
const noKey = noCredential(
  "there is no API key",
  "Set ANTHROPIC_API_KEY in the environment or in .env.",
);
const noCliCredential = noCredential(
  "there is neither a login nor an API key",
  "Run `claude` and sign in, or set CLAUDE_CODE_OAUTH_TOKEN or ANTHROPIC_API_KEY.",
);
const noKeyForSdk = noCredential(
  "there is no API key, which the SDK runtime needs",
  "Set ANTHROPIC_API_KEY, or use the subscription with `runtime: cli`.",
);

const containerHint =
  "Set ANTHROPIC_API_KEY (it stays outside the container). For a subscription, sign in with `claude` and set `runtime: cli` in the fleet file, or choose `docker.auth: env` or `docker.auth: mount` there.";
const noContainerCredential = noCredential(
  "there is no API key, and the container may not use the login",
  containerHint,
);
const gatewayNeedsKey = noCredential(
  "the gateway only supports API keys, not a subscription",
  "Set `docker.auth: env` with CLAUDE_CODE_OAUTH_TOKEN, or `docker.auth: mount`, in the fleet file.",
);
const noContainerLogin = noCredential(
  "the container may not use a login, or there is none",
  "Run `claude` and sign in. With `docker.network: bridge` or `host`, also set `docker.auth: env` or `docker.auth: mount` in the fleet file.",
);
const noEnvCredential = noCredential(
  "`docker.auth: env` is set, but there is no variable to pass on",
  "Set CLAUDE_CODE_OAUTH_TOKEN (from `claude setup-token`) or ANTHROPIC_API_KEY.",
);
const mountHoldsNoKey = noCredential(
  "`docker.auth: mount` only provides the login file, not an API key",
  "Use `docker.auth: gateway`, or `credential: subscription`.",
);

function noCredential(message: string, hint: string): CredentialChoice {
  return { kind: "none", message, hint };
}

/**
 * Whether the user has signed in with `claude`. The login file is never opened. On macOS, the login is
 * in the keychain, which only the binary can read.
 */
function hasLogin(configDir: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === "darwin" || existsSync(loginFile(configDir));
}

/**
 * Whether this user has a subscription to sign in with. On macOS a used Claude Code folder counts as a
 * login, because only the binary can read the keychain.
 */
export function hasSubscription(environment: Environment): boolean {
  const configDir = configDirOf(environment);
  if (environment.CLAUDE_CODE_OAUTH_TOKEN) return true;
  return hasLogin(configDir) && existsSync(configDir);
}

export function loginFile(configDir: string): string {
  return join(configDir, ".credentials.json");
}

export function configDirOf(environment: Environment): string {
  return environment.CLAUDE_CONFIG_DIR ?? join(environment.HOME ?? homedir(), ".claude");
}
