import { type Environment, type ResolvedAgent, reservedVariables } from "@herdctl/config";
import type { CredentialChoice } from "../../claude/credential.ts";
import { runMarkerVariable } from "../../process-tree/process-marker.ts";

export interface RunEnvironmentSources {
  fleet: Environment;
  agent: Pick<ResolvedAgent, "env" | "prompts" | "self_wakeup" | "setting_sources">;
  credential: CredentialChoice;
  /** The gateway to the API, if the run uses one. */
  gateway?: { baseUrl: string; placeholder: string; socketPath?: string };
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
  if (credential.kind === "subscription" && credential.oauthToken) {
    env.CLAUDE_CODE_OAUTH_TOKEN = credential.oauthToken;
  }
  if (gateway) Object.assign(env, gatewayVariables(gateway, env));
  if (credential.kind === "api_key") Object.assign(env, apiKeyVariables(credential, gateway));
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

function apiKeyVariables(
  { upstream, inside }: Extract<CredentialChoice, { kind: "api_key" }>,
  gateway: RunEnvironmentSources["gateway"],
): Record<string, string> {
  // defence: key-placeholder
  if (!inside) return gateway ? { ANTHROPIC_API_KEY: gateway.placeholder } : {};
  const name = upstream.kind === "api_key" ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN";
  return { [name]: upstream.value };
}
