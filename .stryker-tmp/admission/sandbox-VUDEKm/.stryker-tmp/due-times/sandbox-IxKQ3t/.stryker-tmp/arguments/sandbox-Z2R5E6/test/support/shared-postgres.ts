import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { type PostgresProgram, startPostgresProgram } from "./postgres-process.ts";

/**
 * One PostgreSQL for the whole run, in the process that outlives all test files. It is started when
 * the first test connects to the socket.
 */
export class SharedPostgres {
  private readonly server: Server;
  private program: PostgresProgram | undefined;

  constructor(folder: string) {
    this.server = createServer(async (socket) => {
      socket.on("error", () => undefined);
      this.program ??= startPostgresProgram();
      const answer = await this.program.ready.catch((error: Error) =>
        JSON.stringify({ error: error.message }),
      );
      socket.end(`${answer}\n`);
    });
    this.server.listen(sharedPostgresSocket(folder));
  }

  /** Ends the server and returns the errors. */
  async close(): Promise<string[]> {
    await new Promise((done) => this.server.close(done));
    return (await this.program?.end()) ?? [];
  }
}

export function sharedPostgresSocket(folder: string): string {
  return join(folder, "postgres-desk.sock");
}
