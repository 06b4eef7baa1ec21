import type { Socket } from "node:net";
import type { Target } from "./target.ts";

/** A host to which a connection was refused. */
export interface RefusedHost {
  host: string;
  port: number;
  count: number;
  reason: string;
  /** The fleet file setting that would allow it, if there is one. */
  remedy?: string;
}

export interface HostTraffic {
  connections: number;
  bytesUp: number;
  bytesDown: number;
}

export interface EgressSnapshot {
  /** Connections that are currently open. */
  open: number;
  refused: number;
  /** By `host:port`. */
  byHost: Record<string, HostTraffic>;
}

export type EgressEvent =
  | { type: "refused"; refusal: RefusedHost }
  | { type: "opened"; host: string; port: number }
  | { type: "closed"; host: string; port: number; bytesUp: number; bytesDown: number };

/** With a wildcard rule, an agent can make up any number of names. */
const maxHosts = 100;
const otherHostsKey = "others";

/** Counts connections and refusals of the egress proxy. */
export class EgressTraffic {
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
    if (count > 1 || this.refusals.size < maxHosts) this.refusals.set(key, refusal);
    this.onEvent({ type: "refused", refusal });
  }

  trackConnection(target: Target, socket: Socket): void {
    const hostTraffic = this.trafficOf(target);
    hostTraffic.connections += 1;
    this.sockets.set(socket, hostTraffic);
    this.onEvent({ type: "opened", ...target });
    socket.once("close", () => {
      const { bytesUp, bytesDown } = transferredBytes(socket);
      this.sockets.delete(socket);
      hostTraffic.bytesUp += bytesUp;
      hostTraffic.bytesDown += bytesDown;
      this.onEvent({ type: "closed", ...target, bytesUp, bytesDown });
    });
  }

  /** Resets the refusals. */
  resetCounters(): void {
    this.refused = 0;
    this.refusals.clear();
  }

  refusedHosts(): RefusedHost[] {
    return [...this.refusals.values()];
  }

  snapshot(): EgressSnapshot {
    const { refused, sockets } = this;
    const snapshots = new Map(
      [...this.hosts].map(([name, hostTraffic]) => [hostTraffic, { name, ...hostTraffic }]),
    );
    for (const [socket, hostTraffic] of sockets) {
      const snapshot = snapshots.get(hostTraffic);
      if (!snapshot) continue;
      snapshot.bytesUp += transferredBytes(socket).bytesUp;
      snapshot.bytesDown += transferredBytes(socket).bytesDown;
    }
    const byHost = [...snapshots.values()].map(({ name, ...hostTraffic }) => [name, hostTraffic]);
    return { open: sockets.size, refused, byHost: Object.fromEntries(byHost) };
  }

  private trafficOf({ host, port }: Target): HostTraffic {
    const key = `${host}:${port}`;
    const name = this.hosts.has(key) || this.hosts.size < maxHosts ? key : otherHostsKey;
    const hostTraffic = this.hosts.get(name) ?? { connections: 0, bytesUp: 0, bytesDown: 0 };
    this.hosts.set(name, hostTraffic);
    return hostTraffic;
  }
}

function transferredBytes({ bytesWritten, bytesRead }: Socket) {
  return { bytesUp: bytesWritten, bytesDown: bytesRead };
}
