import { createServer, type Server, type Socket } from "node:net";
import { LineSplitter } from "../../lib/line-splitter.ts";
import { makeSocketPath, removeSocket } from "../../lib/socket-path.ts";
import {
  maxMessageBytes,
  parseRunnerCommand,
  type RunnerCommand,
  type RunnerMessage,
} from "../contract/messages.ts";

export interface RunnerSocketOptions {
  /** Sent to every client when it connects. */
  initialMessages(): RunnerMessage[];
  onCommand(command: RunnerCommand): void;
}

/** A client that does not read is disconnected before its unread messages take too much memory. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** The runner's socket. Any client that can open the job's folder may connect. */
export class RunnerSocket {
  private readonly clients = new Set<Socket>();
  private readonly server: Server;
  private isClosed = false;

  constructor(
    private readonly path: string,
    private readonly options: RunnerSocketOptions,
  ) {
    this.server = createServer((client) => this.handleConnection(client));
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(makeSocketPath(this.path), resolve);
    });
  }

  broadcast(line: RunnerMessage): void {
    for (const client of this.clients) send(client, line);
  }

  /** Runs only once, because a later run may already listen on the same path. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.server.close();
    for (const client of this.clients) client.destroySoon();
    removeSocket(this.path);
  }

  private handleConnection(client: Socket): void {
    this.clients.add(client);
    client.on("error", () => client.destroy());
    client.once("close", () => this.clients.delete(client));
    const reader = new LineSplitter(0, maxMessageBytes);
    client.on("data", (chunk) => {
      for (const line of reader.pushText(chunk)) {
        const command = parseRunnerCommand(line);
        if (command) this.options.onCommand(command);
      }
      // defence: runner-line-limit
      if (reader.isOverLimit) client.destroy();
    });
    for (const line of this.options.initialMessages()) send(client, line);
  }
}

function send(client: Socket, line: RunnerMessage): void {
  if (/* defence: runner-unread-limit */ client.writableLength > maxUnreadBytes) client.destroy();
  else client.write(`${JSON.stringify(line)}\n`);
}
