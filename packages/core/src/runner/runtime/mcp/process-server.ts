import { type BridgedServer, longestMessage } from "./bridged-server.ts";

export interface ServerProgram {
  command: string;
  args: string[];
  /** The whole environment. */
  env: Record<string, string>;
  cwd: string;
  secrets: readonly string[];
}

/** A server that is a program of its own and talks over its standard streams. */
export function processServer({ secrets, ...program }: ServerProgram): BridgedServer {
  return {
    secrets,
    async connect(watch) {
      const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
      const transport = new StdioClientTransport({
        ...program,
        stderr: "pipe",
        maxBufferSize: longestMessage,
      });
      transport.stderr?.on("data", (bytes: Buffer) => watch.stderr(bytes.toString("utf8")));
      const start = transport.start.bind(transport);
      transport.start = () => {
        const started = start();
        // Now and not when it has started: what it forks before is not held.
        if (transport.pid !== null) watch.spawned(transport.pid);
        return started;
      };
      return transport;
    },
  };
}
