import { chmodSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { UserError } from "@herdctl/protocol";

/** A unix socket, or a loopback port if `socketPath` is missing. */
export interface ListenAddress {
  socketPath?: string;
  socketMode?: number;
}

const socketBaseUrl = "http://localhost";

export interface ConnectionLimits {
  maxConnections: number;
  /** How long a client may take to send the headers of a request. */
  headersTimeoutMs: number;
  /** Connections that have not sent the key yet; beyond this number, the oldest is closed. */
  maxUnauthenticated: number;
}

/** An HTTP server whose `close` also closes tunnels and idle clients. */
export class ProxyListener {
  readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly unauthenticated = new Set<Socket>();
  private closing: Promise<void> | undefined;

  constructor(
    options: ServerOptions,
    handleRequest: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
    { maxConnections, headersTimeoutMs, maxUnauthenticated }: ConnectionLimits,
  ) {
    const timeouts = {
      // defence: gateway-headers-timeout
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: headersTimeoutMs / 2,
    };
    this.server = createServer({ ...timeouts, ...options }, (request, response) => {
      handleRequest(request, response).catch(() => response.destroy());
    });
    // defence: gateway-connection-limit
    this.server.maxConnections = maxConnections;
    this.server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      this.unauthenticated.add(socket);
      if (
        this.unauthenticated.size > /* defence: gateway-unauthenticated-limit */ maxUnauthenticated
      )
        this.closeOldestUnauthenticated();
      socket.once("close", () => {
        this.sockets.delete(socket);
        this.unauthenticated.delete(socket);
      });
    });
  }

  /** The client has sent the key of the run. */
  markAuthenticated(socket: Socket): void {
    this.unauthenticated.delete(socket);
  }

  private closeOldestUnauthenticated(): void {
    const [oldest] = this.unauthenticated;
    oldest?.destroy();
  }

  /** Resolves with the base URL for clients. */
  async listen({ socketPath, socketMode }: ListenAddress): Promise<string> {
    if (socketPath === undefined) return listenOnLoopback(this.server);
    await listenOnSocket(this.server, socketPath, socketMode);
    return socketBaseUrl;
  }

  close(): Promise<void> {
    this.closing ??= new Promise((resolve) => {
      this.server.close(() => resolve());
      for (const socket of this.sockets) socket.destroy();
    });
    return this.closing;
  }
}

/** The operating system silently truncates a longer path. */
const maxSocketPathBytes = 107;

async function listenOnLoopback(server: Server): Promise<string> {
  await listenOn(server, { host: "127.0.0.1", port: 0 });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no TCP address was bound");
  return `http://127.0.0.1:${address.port}`;
}

async function listenOnSocket(
  server: Server,
  path: string,
  mode = /* defence: gateway-socket-mode */ 0o600,
): Promise<void> {
  if (Buffer.byteLength(path) > maxSocketPathBytes) {
    throw new UserError(
      "config_invalid",
      `the socket path is over ${maxSocketPathBytes} bytes: ${path}`,
      {
        hint: "Use a state directory with a shorter path.",
      },
    );
  }
  await listenOn(server, { path });
  chmodSync(path, mode);
}

type ListenTarget = { host: string; port: number } | { path: string };

function listenOn(server: Server, target: ListenTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(toListenError(error, target)));
    server.listen(target, resolve);
  });
}

function toListenError(error: NodeJS.ErrnoException, target: ListenTarget): Error {
  if (error.code !== "EADDRINUSE" || !("path" in target)) return error;
  return new UserError("address_in_use", `${target.path} is already in use`, { cause: error });
}
