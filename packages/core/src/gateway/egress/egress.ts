/** As `docker.egress` says it: a preset, `name`, `*.name`, `name:port`; or a name at one address. */
export type EgressRule = string | { host: string; address: string };

/** Gives every address of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface EgressOptions {
  allow: readonly EgressRule[];
  /** A unix socket to listen on; on a loopback port by default. */
  socketPath?: string;
  /** For a user other than ours behind the socket; then the folder around it must be private. */
  socketMode?: number;
  /** The system's own by default. */
  resolve?: Resolve;
  onEvent?: (event: EgressEvent) => void;
}

export interface Egress {
  /** For `HTTP_PROXY` and `HTTPS_PROXY` when it listens on loopback. */
  readonly url?: string;
  readonly socketPath?: string;
  /** What was turned away, by host and port, the first hundred of them. */
  refused(): readonly RefusedHost[];
  meter(): EgressSnapshot;
  stop(): Promise<void>;
}

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

/** The second door: named hosts, by an HTTP proxy that looks at names and addresses. */
export async function startEgress(_options: EgressOptions): Promise<Egress> {
  throw new Error("to come");
}
