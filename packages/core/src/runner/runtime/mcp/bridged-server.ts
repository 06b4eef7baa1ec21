import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

/** An MCP server that stays with us, whatever place claude runs in. */
export interface BridgedServer {
  /** A way to the server that is not open yet. Rejects with a reason that people may read. */
  connect(watch: ServerWatch): Promise<Transport>;
  /** What no log and no reason may show. */
  readonly secrets?: readonly string[];
}

/** In bytes. What is longer is no message; that is what the MCP package itself takes by default. */
export const longestMessage = 10 * 1024 * 1024;

export type BridgedServers = Readonly<Record<string, BridgedServer>>;

/** What a server shows beside its messages. */
interface ServerWatch {
  /** At once after the start of its process, if it has one. */
  spawned(pid: number): void;
  stderr(text: string): void;
}
