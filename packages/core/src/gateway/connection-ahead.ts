import type { Agent } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";

/** Servers end a connection that asks nothing; they have more patience than that. */
const waitsFor = 5_000;

/** Where an agent connects to. */
export type Place = { host: string; port: number } | { path: string };

/**
 * A connection that is opened before a request needs it. To open one takes as long as the other
 * side is far, several times over where it is encrypted, and `claude` takes that long to start.
 */
export class ConnectionAhead {
  private readonly connect: () => Duplex | null | undefined;
  private waiting: { socket: Duplex; late: NodeJS.Timeout } | undefined;

  constructor(agent: Agent, place: Place) {
    const connect = agent.createConnection.bind(agent);
    const name = "host" in place && isIP(place.host) === 0 ? { servername: place.host } : {};
    const options = { ...place, ...name, noDelay: true };
    this.connect = () => connect(options);
    agent.createConnection = (options, done) => this.take() ?? connect(options, done);
  }

  open(): void {
    const socket = this.connect();
    if (!socket) return;
    const late = setTimeout(() => socket.destroy(), waitsFor).unref();
    const waiting = { socket, late };
    this.waiting = waiting;
    // Whoever takes it hears of errors as well; one that nobody takes is not missed.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      if (this.waiting === waiting) this.take();
    });
  }

  close(): void {
    this.take()?.destroy();
  }

  private take(): Duplex | undefined {
    const { waiting } = this;
    this.waiting = undefined;
    clearTimeout(waiting?.late);
    return waiting?.socket.writable ? waiting.socket : undefined;
  }
}
