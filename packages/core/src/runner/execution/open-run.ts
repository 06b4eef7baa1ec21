import { rm } from "node:fs/promises";
import {
  type Environment,
  providerVariables,
  type ResolvedAgent,
  reservedVariables,
} from "@herdctl/config";
import {
  type CredentialAgent,
  type CredentialChoice,
  chooseAgentCredential,
  configDirOf,
  loginFile,
  type UsableCredential,
} from "../../claude/credential.ts";
import type { ResolvedProvider } from "../../claude/provider/resolve-provider.ts";
import { providerSpecs } from "../../claude/provider/specs.ts";
import { runSubfolders } from "../../docker/mounts.ts";
import { runTokenOf } from "../../lib/run-token.ts";
import { closePrivateGit } from "../../private-git/private-git-lifecycle.ts";
import { runMarkerVariable } from "../../process-tree/process-table.ts";
import { ProcessTracker } from "../../process-tree/process-tracker.ts";
import type { RunOrder } from "../contract/run-order.ts";
import { CredentialMask, placeholderPath } from "../gateway/credential.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { SpendAccount, SpendMeter } from "../gateway/metering/spend-meter.ts";
import { modelVariables, protocolOf } from "../gateway/providers/index.ts";
import type { MeteredRequest, RefusedRequest } from "../gateway/traffic-meter.ts";
import type { Evidence, ProviderEvidence } from "./evidence.ts";
import {
  type GatewayEndpoint,
  openProxies,
  type RunProxies,
  usesMountedLogin,
} from "./open-proxies.ts";

/** The resources of one run of claude: environment, credential, proxies, private files. */
export interface OpenRun {
  credential: UsableCredential;
  env: Record<string, string>;
  privateDir: string;
  socketDir: string | undefined;
  authFile: string | undefined;
  /** Folder of the container's private git directory. */
  gitDir: string | undefined;
  /** Tracks all processes of the run. */
  processTracker: ProcessTracker;
  gateway: Gateway | undefined;
  gatewayEvidence(): Evidence["gateway"];
  refusedRequests(): RefusedRequest[];
  /** `claude` was already running before this turn. */
  isReused: boolean;
  /** Meters the API calls of the current turn. Undefined between turns, when calls are refused. */
  readonly meter: SpendMeter | undefined;
  /** Resets the counters and meters the next turn. */
  startNextTurn(meter: SpendMeter): void;
  /** Calls after this are refused. */
  endTurn(): void;
  close(): Promise<void>;
}

type OpenRunResult =
  | { kind: "open"; run: OpenRun }
  | { kind: "refused"; refused: NonNullable<Evidence["refused"]> };

interface OpenRunOptions {
  /** A folder that is removed with the run, instead of the job's folder. */
  folder?: string;
  /** Meters the first turn. */
  meter?: SpendMeter;
  gitDir?: string;
}

export async function openRun(
  order: RunOrder,
  environment: Environment,
  jobDir: string,
  { folder, meter, gitDir }: OpenRunOptions = {},
): Promise<OpenRunResult> {
  const credential = credentialOf(order, environment);
  if (credential.kind === "none") {
    return { kind: "refused", refused: { code: "auth_failed", ...withoutKind(credential) } };
  }
  const { privateDir, socketDir } = runSubfolders(folder ?? jobDir);
  let lastRequest: Readonly<MeteredRequest> | undefined;
  const account: SpendAccount = { meter };
  const onEnd = (request: Readonly<MeteredRequest>) => {
    lastRequest = request;
  };
  const proxies = await openProxies(order, environment, credential, socketDir, { account, onEnd });
  const env = buildOrderEnvironment(order, environment, credential, proxies);
  const close = async () => {
    await proxies.close();
    if (gitDir) await closePrivateGit(gitDir);
    await rm(folder ?? privateDir, { recursive: true, force: true });
  };
  const { gateway } = proxies;
  let isReused = false;
  return {
    kind: "open",
    run: {
      get isReused() {
        return isReused;
      },
      credential,
      env,
      privateDir,
      socketDir: proxies.socketFolder,
      gitDir,
      authFile: usesMountedLogin(order, credential)
        ? loginFile(configDirOf(environment))
        : undefined,
      processTracker: new ProcessTracker(runTokenOf(order)),
      gateway,
      get meter() {
        return account.meter;
      },
      gatewayEvidence: () =>
        gateway && {
          ...gatewayEvidenceOf(gateway, lastRequest),
          provider: providerEvidence(credential, gateway, lastRequest),
          overLimit: account.meter?.refusedBy,
        },
      refusedRequests: proxies.refusedRequests,
      startNextTurn: (next) => {
        account.meter = next;
        isReused = true;
        lastRequest = undefined;
        proxies.resetCounters();
      },
      endTurn: () => {
        account.meter?.close();
        account.meter = undefined;
      },
      close,
    },
  };
}

export function credentialOf(
  { agent }: { agent: CredentialAgent },
  environment: Environment,
): CredentialChoice {
  return chooseAgentCredential(agent, environment);
}

function buildOrderEnvironment(
  order: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  proxies: RunProxies,
): Record<string, string> {
  const env = buildRunEnvironment({
    fleet: { ...environment, CLAUDE_CONFIG_DIR: environment.CLAUDE_CONFIG_DIR && order.configDir },
    agent: order.agent,
    credential,
    gateway: proxies.api,
    runToken: runTokenOf(order),
    jobId: order.jobId,
  });
  return { ...env, ...(proxies.egressSocket && { HERDCTL_PROXY_SOCKET: proxies.egressSocket }) };
}

function gatewayEvidenceOf(
  gateway: Gateway,
  lastRequest: Readonly<MeteredRequest> | undefined,
): NonNullable<Evidence["gateway"]> {
  const unreachable =
    lastRequest?.ending === "unreachable" ? (lastRequest.failure ?? "unreachable") : undefined;
  return { limit: gateway.meter().limit, unreachable, cut: lastRequest?.ending === "cut" };
}

function providerEvidence(
  credential: UsableCredential,
  gateway: Gateway,
  lastRequest: Readonly<MeteredRequest> | undefined,
): ProviderEvidence | undefined {
  if (credential.kind !== "provider") return undefined;
  const { type, credential: source } = credential.provider;
  const { status = 0, errorType, errorMessage } = lastRequest ?? {};
  const mask = new CredentialMask(source.kind === "token" ? [source.value] : []);
  return {
    label: providerSpecs[type].label,
    credential: source.source,
    credentialProblem: gateway.credentialProblem(),
    error:
      status >= 400 || errorType !== undefined
        ? { status, type: errorType, message: errorMessage && mask.maskText(errorMessage) }
        : undefined,
  };
}

function withoutKind({ message, hint }: { message: string; hint: string }) {
  return { message, hint };
}

export interface RunEnvironmentSources {
  fleet: Environment;
  agent: Pick<ResolvedAgent, "env" | "prompts" | "self_wakeup" | "setting_sources">;
  credential: CredentialChoice;
  /** The gateway to the API, if the run uses one. */
  gateway?: GatewayEndpoint;
  runToken: string;
  jobId: string;
}

/** The complete environment of a run: an allow-list, the agent's variables, and no API key. */
export function buildRunEnvironment(sources: RunEnvironmentSources): Record<string, string> {
  const { fleet, agent, credential, gateway } = sources;
  const inherited = Object.entries(fleet).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isInherited(entry[0], fleet),
  );
  const env: Record<string, string> = {
    ...Object.fromEntries(inherited),
    ...agentVariables(agent),
  };
  // defence: no-key-with-subscription
  for (const name of credentialVariables) delete env[name];
  // defence: no-inherited-provider
  for (const name of providerVariables) delete env[name];
  if (credential.kind === "subscription" && credential.oauthToken) {
    env.CLAUDE_CODE_OAUTH_TOKEN = credential.oauthToken;
  }
  if (gateway) Object.assign(env, gatewayVariables(gateway, env));
  if (credential.kind === "api_key") Object.assign(env, apiKeyVariables(credential, gateway));
  if (credential.kind === "provider" && gateway)
    Object.assign(env, providerClientVariables(credential.provider, gateway));
  // The workspace's CLAUDE.md still applies, although its settings do not.
  if (!agent.setting_sources.includes("project")) {
    env.CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD = "1";
  }
  return {
    ...env,
    ...claudeSwitches(sources),
    DISABLE_AUTOUPDATER: "1",
    HERDCTL_JOB: sources.jobId,
    [runMarkerVariable]: sources.runToken,
  };
}

/**
 * Switches off behavior of Claude Code. `PROVIDER_MANAGED_BY_HOST` prevents user settings from
 * choosing another API, credential or proxy. It also makes Claude Code ignore a login file, so it is
 * not set for runs that use one.
 */
function claudeSwitches(sources: RunEnvironmentSources): Record<string, string> {
  const { agent, credential } = sources;
  const usesLoginFile = credential.kind === "subscription" && !credential.oauthToken;
  return {
    // defence: no-user-api-settings
    ...(!usesLoginFile && { CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: "1" }),
    ...(!agent.self_wakeup && { CLAUDE_CODE_DISABLE_CRON: "1" }),
    ...(agent.prompts === "verbatim" && { CLAUDE_CODE_DISABLE_FILE_MENTIONS: "1" }),
  };
}

const inherited = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
  ...["ANTHROPIC_BASE_URL", "ANTHROPIC_UNIX_SOCKET", "CLAUDE_CONFIG_DIR", "IS_SANDBOX"],
]);

const credentialVariables = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
];

function isInherited(name: string, fleet: Environment): boolean {
  // defence: inherited-variables
  if (inherited.has(name) || name.startsWith("LC_")) return true;
  // Inside a Claude Code session, these variables describe that session.
  return name.startsWith("CLAUDE_CODE_") && fleet.CLAUDECODE === undefined;
}

/** The configuration already rejects reserved variables, but library users can pass any agent. */
function agentVariables({ env }: RunEnvironmentSources["agent"]): Record<string, string> {
  const reserved = new Set<string>(reservedVariables);
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => /* defence: reserved-variables-at-run */ !reserved.has(name),
    ),
  );
}

function gatewayVariables(
  gateway: NonNullable<RunEnvironmentSources["gateway"]>,
  env: Record<string, string>,
) {
  const noProxyHosts = [env.NO_PROXY ?? env.no_proxy, "127.0.0.1", "localhost"]
    .filter(Boolean)
    .join(",");
  delete env.ANTHROPIC_UNIX_SOCKET;
  return {
    ANTHROPIC_BASE_URL: gateway.baseUrl,
    ...(gateway.socketPath && { ANTHROPIC_UNIX_SOCKET: gateway.socketPath }),
    NO_PROXY: noProxyHosts,
    no_proxy: noProxyHosts,
  };
}

/** The program gets no credential of a provider: its base URL contains the placeholder. */
function providerClientVariables(
  provider: ResolvedProvider,
  { baseUrl, placeholder }: GatewayEndpoint,
): Record<string, string> {
  const keyedBaseUrl = `${baseUrl}${placeholderPath(placeholder)}`;
  return {
    ...modelVariables(provider),
    ...protocolOf(provider).clientVariables(keyedBaseUrl, provider, placeholder),
  };
}

function apiKeyVariables(
  { upstream, inside }: Extract<CredentialChoice, { kind: "api_key" }>,
  gateway: RunEnvironmentSources["gateway"],
): Record<string, string> {
  // defence: key-placeholder
  if (!inside) return gateway ? { ANTHROPIC_API_KEY: gateway.placeholder } : {};
  const name = upstream.kind === "api_key" ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN";
  return { [name]: upstream.value };
}
