import type { Environment } from "../../config/environment.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { isSecretName } from "../secret-name.ts";

export interface Secret {
  name: string;
  value: string;
}

export interface Found {
  /** The name of the secret; its value is told to nobody. */
  secret: string;
  /** The file in the container. */
  path: string;
}

const shortest = 8;

/**
 * What must not be found in an agent's container: what the fleet's environment holds and its servers
 * outside are given. What the configuration gives the agent itself is there on purpose.
 */
export function secretsOf(env: Environment, agent: ResolvedAgent): Secret[] {
  const given = new Set([...Object.values(agent.env), ...Object.values(agent.docker.env)]);
  const own = Object.entries(env).filter(([name]) => isSecretName(name));
  const servers = Object.entries(agent.mcp_servers).flatMap(([server, config]) =>
    config.run === "container" ? [] : secretsOfServer(server, config),
  );
  return [...own, ...servers].flatMap(([name, value]) =>
    value !== undefined && value.length >= shortest && !given.has(value) ? [{ name, value }] : [],
  );
}

type ServerConfig = ResolvedAgent["mcp_servers"][string];

function secretsOfServer(server: string, config: ServerConfig): [string, string][] {
  const values = { ...("env" in config && config.env), ...("headers" in config && config.headers) };
  return Object.entries(values).map(([name, value]) => [`${name} of ${server}`, value]);
}

/** Keys and tokens of the API show themselves, whoever they belong to. */
const apiCredential = /sk-ant-[A-Za-z0-9_-]{16,}/;

export function searchIn(path: string, content: Buffer, secrets: readonly Secret[]): Found[] {
  const found = secrets
    .filter(({ value }) => content.includes(value))
    .map(({ name }) => ({ secret: name, path }));
  if (found.length > 0 || !apiCredential.test(content.toString("latin1"))) return found;
  return [{ secret: "a credential of the API", path }];
}
