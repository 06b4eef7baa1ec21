import type { Environment, ResolvedAgent } from "@herdctl/config";
import { isSecretName } from "../posture/reachable-secrets.ts";

export interface Secret {
  name: string;
  value: string;
  /** Whether it is a key or token for the model's API. */
  isApiCredential: boolean;
}

export interface SecretMatch extends Pick<Secret, "isApiCredential"> {
  /** The name of the secret; its value is never shown. */
  secret: string;
  /** The file in the container. */
  path: string;
}

const minSecretLength = 8;

const apiCredentialVariables: readonly string[] = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
];

/**
 * Secrets that an agent's container must not contain: those in the fleet's environment and those of
 * MCP servers outside the container. Values that the configuration gives to the agent are excluded.
 */
export function collectSecrets(env: Environment, agent: ResolvedAgent): Secret[] {
  const intendedValues = new Set([...Object.values(agent.env), ...Object.values(agent.docker.env)]);
  const environmentSecrets = Object.entries(env).filter(([name]) => isSecretName(name));
  const servers = Object.entries(agent.mcp_servers).flatMap(([server, config]) =>
    config.run === "container" ? [] : mcpServerSecrets(server, config),
  );
  return [...environmentSecrets, ...servers].flatMap(([name, value]) =>
    value !== undefined && value.length >= minSecretLength && !intendedValues.has(value)
      ? [{ name, value, isApiCredential: apiCredentialVariables.includes(name) }]
      : [],
  );
}

type ServerConfig = ResolvedAgent["mcp_servers"][string];

function mcpServerSecrets(server: string, config: ServerConfig): [string, string][] {
  const values = { ...("env" in config && config.env), ...("headers" in config && config.headers) };
  return Object.entries(values).map(([name, value]) => [`${name} of ${server}`, value]);
}

/** Recognizes any key or token of the API. */
const apiCredentialPattern = /sk-ant-[A-Za-z0-9_-]{16,}/;

export function findSecrets(
  path: string,
  content: Buffer,
  secrets: readonly Secret[],
): SecretMatch[] {
  const matches = secrets
    .filter(({ value }) => content.includes(value))
    .map(({ name, isApiCredential }) => ({ secret: name, path, isApiCredential }));
  if (matches.length > 0 || !apiCredentialPattern.test(content.toString("latin1"))) return matches;
  return [{ secret: "an API credential", path, isApiCredential: true }];
}
