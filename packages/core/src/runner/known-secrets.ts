import { type Environment, readEnvironment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { minSecretLength, secretValues } from "../config/secret-values.ts";

/**
 * Every secret that a run's output may not repeat: variables with the name of a secret, those that
 * the configuration names as tokens, the values of `.env`, and what MCP servers are given.
 */
export function knownSecrets(
  agent: Pick<ResolvedAgent, "env" | "mcp_servers" | "fleet_dir">,
  environment: Environment,
): string[] {
  const named = namedVariables(agent).flatMap((name) => environment[name] ?? []);
  const values = [
    ...secretValues({ ...environment, ...agent.env }),
    ...named,
    ...Object.values(ownFile(agent.fleet_dir)).filter(isTelling),
    ...serverSecrets(agent.mcp_servers),
  ];
  return [...new Set(values)].filter((value) => value.length >= minSecretLength);
}

/** A path, an address without a password or a plain word in `.env` is no secret. */
function isTelling(value: string | undefined): value is string {
  if (value === undefined || value.length < minSecretLength) return false;
  return !/^[a-z_-]+$|^[\d.,:-]+$|^[~./]|^https?:\/\/[^@]*$|\s/i.test(value);
}

function ownFile(fleetDir: string): Environment {
  try {
    return readEnvironment(fleetDir, {});
  } catch {
    return {};
  }
}

/** Values of headers and variables; of `Bearer …` also what follows. */
function serverSecrets(servers: ResolvedAgent["mcp_servers"]): string[] {
  const texts = Object.values(servers).flatMap((server) => [
    ...Object.values("env" in server ? (server.env ?? {}) : {}),
    ...Object.values("headers" in server ? (server.headers ?? {}) : {}),
  ]);
  return texts
    .flatMap((text) => [text, text.replace(/^(Bearer|Basic|token)\s+/i, "")])
    .filter(isTelling);
}

/** Fields such as `token_env` and `secret_env`, however deep. */
function namedVariables(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner === "string") return key.endsWith("_env") ? [inner] : [];
    return namedVariables(inner);
  });
}
