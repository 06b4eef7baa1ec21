import type { Agent } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";

/** Below the time after which servers close a connection without requests. */
const maxIdleMs = 5_000;

/** Where the HTTP agent connects to. */
export type ConnectTarget = { host: string; port: number } | { path: string };

/**
 * Opens a connection before a request needs it. Connecting takes several round trips with TLS, which
 * fit into the time that `claude` takes to start.
 */
export class Preconnector {
  private readonly connect: () => Duplex | null | undefined;
  private idle: { socket: Duplex; expiryTimer: NodeJS.Timeout } | undefined;

  constructor(agent: Agent, target: ConnectTarget) {
    const connect = agent.createConnection.bind(agent);
    const tlsOptions =
      "host" in target && isIP(target.host) === 0 ? { servername: target.host } : {};
    const options = { ...target, ...tlsOptions, noDelay: true };
    this.connect = () => connect(options);
    agent.createConnection = (options, done) => this.take() ?? connect(options, done);
  }

  open(): void {
    const socket = this.connect();
    if (!socket) return;
    const expiryTimer = setTimeout(() => socket.destroy(), maxIdleMs).unref();
    const idle = { socket, expiryTimer };
    this.idle = idle;
    // The request that takes the socket handles errors itself; errors of an unused socket do not matter.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      if (this.idle === idle) this.take();
    });
  }

  close(): void {
    this.take()?.destroy();
  }

  private take(): Duplex | undefined {
    const { idle } = this;
    this.idle = undefined;
    clearTimeout(idle?.expiryTimer);
    return idle?.socket.writable ? idle.socket : undefined;
  }
}
