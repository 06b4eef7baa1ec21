import { decidedVariables } from "../config/decided-variables.ts";
import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { CredentialChoice } from "./credential.ts";

/** The variable by which every process of a run is known, and swept when it is left behind. */
export const runMarker = "HERDCTL_RUN";

export interface EnvironmentSources {
  fleet: Environment;
  agent: Pick<ResolvedAgent, "env" | "prompts" | "self_wakeup" | "setting_sources">;
  credential: CredentialChoice;
  /** The door to the API, for every API key and every container. */
  gateway?: { baseUrl: string; placeholder: string; socketPath?: string };
  runToken: string;
  jobId: string;
}

/** The whole environment of one run: a short list, what the agent says, and no key. */
export function buildEnvironment(sources: EnvironmentSources): Record<string, string> {
  const { fleet, agent, credential, gateway } = sources;
  const inherited = Object.entries(fleet).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isInherited(entry[0], fleet),
  );
  const env: Record<string, string> = { ...Object.fromEntries(inherited), ...ownVariables(agent) };
  for (const name of credentialVariables) delete env[name];
  if (credential.kind === "subscription" && credential.oauthToken) {
    env.CLAUDE_CODE_OAUTH_TOKEN = credential.oauthToken;
  }
  if (gateway) Object.assign(env, throughGateway(gateway, env));
  if (credential.kind === "api_key") Object.assign(env, keyFor(credential, gateway));
  // The workspace's own CLAUDE.md stays in force though its settings do not.
  if (!agent.setting_sources.includes("project")) {
    env.CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD = "1";
  }
  return {
    ...env,
    ...switches(sources),
    DISABLE_AUTOUPDATER: "1",
    HERDCTL_JOB: sources.jobId,
    [runMarker]: sources.runToken,
  };
}

/**
 * What Claude Code must not do on its own. `PROVIDER_MANAGED_BY_HOST` keeps the settings of the user
 * from choosing another API, credential or proxy. With it Claude Code ignores a login file, so runs
 * on a login go without.
 */
function switches(sources: EnvironmentSources): Record<string, string> {
  const { agent, credential } = sources;
  const usesLoginFile = credential.kind === "subscription" && !credential.oauthToken;
  return {
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
  if (inherited.has(name) || name.startsWith("LC_")) return true;
  // Inside a Claude Code session these describe that session and not ours.
  return name.startsWith("CLAUDE_CODE_") && fleet.CLAUDECODE === undefined;
}

/** The configuration refuses these already; a program may hand us an agent that it never saw. */
function ownVariables({ env }: EnvironmentSources["agent"]): Record<string, string> {
  const decided = new Set<string>(decidedVariables);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !decided.has(name)));
}

function throughGateway(
  gateway: NonNullable<EnvironmentSources["gateway"]>,
  env: Record<string, string>,
) {
  const around = [env.NO_PROXY ?? env.no_proxy, "127.0.0.1", "localhost"].filter(Boolean).join(",");
  delete env.ANTHROPIC_UNIX_SOCKET;
  return {
    ANTHROPIC_BASE_URL: gateway.baseUrl,
    ...(gateway.socketPath && { ANTHROPIC_UNIX_SOCKET: gateway.socketPath }),
    NO_PROXY: around,
    no_proxy: around,
  };
}

function keyFor(
  { upstream, inside }: Extract<CredentialChoice, { kind: "api_key" }>,
  gateway: EnvironmentSources["gateway"],
): Record<string, string> {
  if (!inside) return gateway ? { ANTHROPIC_API_KEY: gateway.placeholder } : {};
  const name = upstream.kind === "api_key" ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN";
  return { [name]: upstream.value };
}
