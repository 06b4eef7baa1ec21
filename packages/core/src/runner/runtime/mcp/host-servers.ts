import type { Environment } from "../../../config/environment.ts";
import type { ResolvedAgent } from "../../../config/resolve.ts";
import type { BridgedServer, BridgedServers } from "./bridged-server.ts";
import { type McpServers, placeServers } from "./place-servers.ts";
import { processServer } from "./process-server.ts";
import { remoteServer } from "./remote-server.ts";
import { serverEnvironment } from "./server-environment.ts";

/** The servers of an agent that are to be with us though claude is in a container. */
export function hostServers(
  agent: Pick<ResolvedAgent, "docker" | "mcp_servers" | "fleet_dir">,
  environment: Environment,
  run: Environment,
): BridgedServers {
  const make = (server: McpServers[string]): BridgedServer => {
    if (!("command" in server)) return remoteServer(server);
    const { command, args, env: own } = server;
    const env = serverEnvironment(environment, own, run);
    // Never the agent's folder: what it plants there would be run outside of its container.
    return processServer({ command, args, env, cwd: agent.fleet_dir, secrets: Object.values(own) });
  };
  const { bridged } = placeServers(agent);
  return Object.fromEntries(Object.entries(bridged).map(([name, server]) => [name, make(server)]));
}
