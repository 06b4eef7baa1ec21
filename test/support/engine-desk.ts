import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { type EngineProgram, startEngineProgram } from "./engine-program.ts";

/**
 * One Docker engine for the whole run, in the process that outlives all test files. It is started
 * when the first test asks on the socket; a run without such tests never has one.
 */
export class EngineDesk {
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
    this.server.listen(deskSocket(folder));
  }

  /** Ends the engine; what is returned was left by tests. */
  async close(): Promise<string[]> {
    await new Promise((done) => this.server.close(done));
    return (await this.engine?.stop()) ?? [];
  }
}

export function deskSocket(folder: string): string {
  return join(folder, "engine-desk.sock");
}
