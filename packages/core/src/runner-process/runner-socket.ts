import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { makeSocketPath, removeSocket } from "../runner/socket-path.ts";
import { type FromRunner, readToRunner, type ToRunner } from "./contract.ts";
import { LineReader } from "./line-reader.ts";

export interface SocketOptions {
  /** What a client is told first. */
  greeting(): FromRunner[];
  onOrder(order: ToRunner): void;
}

/** A client that reads nothing is let go before what waits for it costs memory. */
const mostUnread = 8 * 1024 * 1024;

export function runnerSocketPath(jobDir: string): string {
  return join(jobDir, "runner.sock");
}

/** The runner's ear. Whoever may open the job's folder may connect; none of them can do harm by it. */
export class RunnerSocket {
  private readonly clients = new Set<Socket>();
  private readonly server: Server;
  private isClosed = false;

  constructor(
    private readonly path: string,
    private readonly options: SocketOptions,
  ) {
    this.server = createServer((client) => this.welcome(client));
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(makeSocketPath(this.path), resolve);
    });
  }

  tell(line: FromRunner): void {
    for (const client of this.clients) send(client, line);
  }

  /** Once: whoever comes after this run may listen at the same path. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.server.close();
    for (const client of this.clients) client.destroySoon();
    removeSocket(this.path);
  }

  private welcome(client: Socket): void {
    this.clients.add(client);
    client.on("error", () => client.destroy());
    client.once("close", () => this.clients.delete(client));
    const reader = new LineReader();
    client.on("data", (chunk) => {
      for (const line of reader.push(chunk)) {
        const order = readToRunner(line);
        if (order) this.options.onOrder(order);
      }
      if (reader.isOverfull) client.destroy();
    });
    for (const line of this.options.greeting()) send(client, line);
  }
}

function send(client: Socket, line: FromRunner): void {
  if (client.writableLength > mostUnread) client.destroy();
  else client.write(`${JSON.stringify(line)}\n`);
}
