import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { BridgedServer } from "./bridged-server.ts";

/** A server of the MCP package: its `McpServer` as well as its plainer `Server`. */
export interface ServerInstance {
  connect(transport: Transport): Promise<void>;
}

/** A server that is part of our own program: no process, no port, nothing to log in to. */
export function inProcessServer(
  make: () => ServerInstance | Promise<ServerInstance>,
): BridgedServer {
  return {
    async connect() {
      const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
      const [ours, theirs] = InMemoryTransport.createLinkedPair();
      const server = await make();
      await server.connect(theirs);
      return ours;
    },
  };
}
