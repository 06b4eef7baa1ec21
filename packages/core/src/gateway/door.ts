import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { listenOnLoopback, listenOnSocket } from "./listen.ts";

/** Where a door stands: on a unix socket, else on a loopback port. */
export interface DoorPlace {
  socketPath?: string;
  socketMode?: number;
}

const baseUrlOnSocket = "http://localhost";

export interface ConnectionLimits {
  maxConnections: number;
  /** How long a client may take to send the headers of a request. */
  headersTimeoutMs: number;
  /** Connections that have not shown the key yet; beyond it the oldest of them is closed. */
  maxUnauthenticated: number;
}

/** An HTTP server that closes for good: tunnels and clients that never leave are cut too. */
export class Door {
  readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly unauthenticated = new Set<Socket>();
  private closing: Promise<void> | undefined;

  constructor(
    options: ServerOptions,
    answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
    { maxConnections, headersTimeoutMs, maxUnauthenticated }: ConnectionLimits,
  ) {
    const timeouts = {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: headersTimeoutMs / 2,
    };
    this.server = createServer({ ...timeouts, ...options }, (request, response) => {
      answer(request, response).catch(() => response.destroy());
    });
    this.server.maxConnections = maxConnections;
    this.server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      this.unauthenticated.add(socket);
      if (this.unauthenticated.size > maxUnauthenticated) this.closeOldestUnauthenticated();
      socket.once("close", () => {
        this.sockets.delete(socket);
        this.unauthenticated.delete(socket);
      });
    });
  }

  /** The client has shown the key of the run. */
  authenticated(socket: Socket): void {
    this.unauthenticated.delete(socket);
  }

  private closeOldestUnauthenticated(): void {
    const [oldest] = this.unauthenticated;
    oldest?.destroy();
  }

  /** Gives the address under which clients reach it. */
  async open({ socketPath, socketMode }: DoorPlace): Promise<string> {
    if (socketPath === undefined) return listenOnLoopback(this.server);
    await listenOnSocket(this.server, socketPath, socketMode);
    return baseUrlOnSocket;
  }

  close(): Promise<void> {
    this.closing ??= new Promise((resolve) => {
      this.server.close(() => resolve());
      for (const socket of this.sockets) socket.destroy();
    });
    return this.closing;
  }
}
