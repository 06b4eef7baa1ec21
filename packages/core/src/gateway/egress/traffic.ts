import type { Socket } from "node:net";
import type { Target } from "./target.ts";

/** A host that was asked for in vain. */
export interface RefusedHost {
  host: string;
  port: number;
  count: number;
  reason: string;
  /** The line of the fleet file that would let it pass, where one would. */
  remedy?: string;
}

export interface HostTraffic {
  connections: number;
  bytesUp: number;
  bytesDown: number;
}

export interface EgressSnapshot {
  /** Connections that are open now. */
  open: number;
  refused: number;
  /** By `host:port`. */
  byHost: Record<string, HostTraffic>;
}

export type EgressEvent =
  | { type: "refused"; refusal: RefusedHost }
  | { type: "opened"; host: string; port: number }
  | { type: "closed"; host: string; port: number; bytesUp: number; bytesDown: number };

/** A wildcard lets an agent make up as many names as it likes. */
const mostHosts = 100;
const otherHosts = "others";

/** Counts what passes through the second door and what is turned away there. */
export class Traffic {
  private readonly refusals = new Map<string, RefusedHost>();
  private readonly hosts = new Map<string, HostTraffic>();
  private readonly sockets = new Map<Socket, HostTraffic>();
  private refused = 0;

  constructor(private readonly onEvent: (event: EgressEvent) => void) {}

  refuse({ host, port }: Target, reason: string, remedy?: string): void {
    this.refused += 1;
    const key = `${host}:${port} ${reason}`;
    const count = (this.refusals.get(key)?.count ?? 0) + 1;
    const refusal = { host, port, count, reason, remedy };
    if (count > 1 || this.refusals.size < mostHosts) this.refusals.set(key, refusal);
    this.onEvent({ type: "refused", refusal });
  }

  opened(target: Target, socket: Socket): void {
    const sum = this.sumOf(target);
    sum.connections += 1;
    this.sockets.set(socket, sum);
    this.onEvent({ type: "opened", ...target });
    socket.once("close", () => {
      const { bytesUp, bytesDown } = passed(socket);
      this.sockets.delete(socket);
      sum.bytesUp += bytesUp;
      sum.bytesDown += bytesDown;
      this.onEvent({ type: "closed", ...target, bytesUp, bytesDown });
    });
  }

  /** What was turned away so far counts no more. */
  countAnew(): void {
    this.refused = 0;
    this.refusals.clear();
  }

  refusedHosts(): RefusedHost[] {
    return [...this.refusals.values()];
  }

  snapshot(): EgressSnapshot {
    const { refused, sockets } = this;
    const sums = new Map([...this.hosts].map(([name, sum]) => [sum, { name, ...sum }]));
    for (const [socket, sum] of sockets) {
      const shown = sums.get(sum);
      if (!shown) continue;
      shown.bytesUp += passed(socket).bytesUp;
      shown.bytesDown += passed(socket).bytesDown;
    }
    const byHost = [...sums.values()].map(({ name, ...sum }) => [name, sum]);
    return { open: sockets.size, refused, byHost: Object.fromEntries(byHost) };
  }

  private sumOf({ host, port }: Target): HostTraffic {
    const own = `${host}:${port}`;
    const name = this.hosts.has(own) || this.hosts.size < mostHosts ? own : otherHosts;
    const sum = this.hosts.get(name) ?? { connections: 0, bytesUp: 0, bytesDown: 0 };
    this.hosts.set(name, sum);
    return sum;
  }
}

function passed({ bytesWritten, bytesRead }: Socket) {
  return { bytesUp: bytesWritten, bytesDown: bytesRead };
}
