import type { ResolvedAgent } from "../../../config/resolve.ts";

export type McpServers = ResolvedAgent["mcp_servers"];

export interface PlacedServers {
  /** Claude starts or reaches them itself, where it runs. */
  given: McpServers;
  /** They stay with us, with their secrets, and claude reaches them through us. */
  bridged: McpServers;
}

/** Which servers of an agent are where. Their names, and so those of their tools, stay the same. */
export function placeServers(agent: Pick<ResolvedAgent, "docker" | "mcp_servers">): PlacedServers {
  const isBridged = ({ run }: McpServers[string]) => agent.docker.enabled && run === "host";
  const servers = Object.entries(agent.mcp_servers);
  return {
    given: Object.fromEntries(servers.filter(([, server]) => !isBridged(server))),
    bridged: Object.fromEntries(servers.filter(([, server]) => isBridged(server))),
  };
}
