import type { ResolvedAgent } from "@herdctl/config";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

/** An MCP server that the runner starts or connects to itself, wherever claude runs. */
export interface BridgedServer {
  /** Creates a transport that is not started yet. Rejects with a message that may be shown to people. */
  connect(observer: ServerObserver): Promise<Transport>;
  /** Values to mask in logs and error messages. */
  readonly secrets?: readonly string[];
}

/** The default limit of the MCP SDK. */
export const maxMessageBytes = 10 * 1024 * 1024;

export type BridgedServers = Readonly<Record<string, BridgedServer>>;

/** Events of a server other than its messages. */
interface ServerObserver {
  /** Called immediately after its process was started, if it has one. */
  onSpawned(pid: number): void;
  onStderr(text: string): void;
}

export type McpServers = ResolvedAgent["mcp_servers"];

export interface ServerPlacement {
  /** Claude starts or connects to these itself. */
  direct: McpServers;
  /** The runner keeps these and their secrets, and claude reaches them through a bridge. */
  bridged: McpServers;
}

/** Decides which servers of an agent are bridged. Server and tool names do not depend on it. */
export function partitionServers(
  agent: Pick<ResolvedAgent, "docker" | "mcp_servers">,
): ServerPlacement {
  const isBridged = ({ run }: McpServers[string]) => agent.docker.enabled && run === "host";
  const servers = Object.entries(agent.mcp_servers);
  return {
    direct: Object.fromEntries(servers.filter(([, server]) => !isBridged(server))),
    bridged: Object.fromEntries(servers.filter(([, server]) => isBridged(server))),
  };
}
