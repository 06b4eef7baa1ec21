import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { type EngineProgram, startEngineProgram } from "./docker-engine-process.ts";

/**
 * One Docker engine for the whole run, in the process that outlives all test files. It is started
 * when the first test connects to the socket.
 */
export class SharedEngine {
  private readonly server: Server;
  private engine: EngineProgram | undefined;

  constructor(folder: string) {
    this.server = createServer(async (socket) => {
      socket.on("error", () => undefined);
      this.engine ??= startEngineProgram();
      const answer = await this.engine.ready.catch((error: Error) =>
        JSON.stringify({ error: error.message }),
      );
      socket.end(`${answer}\n`);
    });
    this.server.listen(sharedEngineSocket(folder));
  }

  /** Ends the engine and returns what tests left behind. */
  async close(): Promise<string[]> {
    await new Promise((done) => this.server.close(done));
    return (await this.engine?.stop()) ?? [];
  }
}

export function sharedEngineSocket(folder: string): string {
  return join(folder, "engine-desk.sock");
}
