import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Door } from "../door.ts";
import type { Gateway } from "../gateway.ts";
import { type EgressAdmission, egressGate, type Resolve } from "./admission.ts";
import {
  type ProxyAnswer,
  rawAnswer,
  refusalAnswer,
  sendAnswer,
  unreachableAnswer,
} from "./answer.ts";
import { dial, idleTime } from "./dial.ts";
import { passPlain } from "./plain.ts";
import { type EgressRule, egressRemedy } from "./rules.ts";
import { type ReadTarget, readPlainTarget, readTunnelTarget, type Target } from "./target.ts";
import { type EgressEvent, type EgressSnapshot, type RefusedHost, Traffic } from "./traffic.ts";
import { openTunnel, type TunnelRefusal } from "./tunnel.ts";

export interface EgressOptions {
  allow: readonly EgressRule[];
  /**
   * Gets the requests that name no host. With `ANTHROPIC_UNIX_SOCKET` the binary does not look at
   * its login file, so whoever has one must reach the API by an address: by this door's.
   */
  api?: Pick<Gateway, "answer">;
  /** A unix socket to listen on; on a loopback port by default. */
  socketPath?: string;
  /** For a user other than ours behind the socket; then the folder around it must be private. */
  socketMode?: number;
  /** The system's own by default. */
  resolve?: Resolve;
  onEvent?: (event: EgressEvent) => void;
  /** How long a client may take to begin TLS in a tunnel. */
  helloTimeoutMs?: number;
}

export interface Egress {
  /** For `HTTP_PROXY` and `HTTPS_PROXY` when it listens on loopback. */
  readonly url?: string;
  readonly socketPath?: string;
  /** What was turned away, by host, port and reason, the first hundred of them. */
  refused(): readonly RefusedHost[];
  meter(): EgressSnapshot;
  /** What was turned away so far counts no more. */
  countAnew(): void;
  stop(): Promise<void>;
}

interface Reached {
  kind: "reached";
  target: Target;
  path: string;
  upstream: Socket;
  admission: Extract<EgressAdmission, { kind: "open" }>;
}

/** No key opens this proxy: whoever reaches the socket may use it. */
const limits = { maxConnections: 256, headersTimeoutMs: 20_000, maxUnauthenticated: 256 };

const httpPorts = [80, 443];

/** Never for the ports of HTTP and HTTPS, where the client can do without. */
function tcpRemedy(target: Target, address?: string): string | undefined {
  if (httpPorts.includes(target.port)) return undefined;
  return egressRemedy(target, { address, protocol: "tcp" });
}

/** The second door: an HTTP proxy to named hosts and to nobody else. */
export async function startEgress(options: EgressOptions): Promise<Egress> {
  const { api, socketPath, socketMode, helloTimeoutMs = 30_000 } = options;
  const traffic = new Traffic(options.onEvent ?? (() => undefined));
  const admit = egressGate(options.allow, options.resolve);
  const stopping = new AbortController();
  setMaxListeners(limits.maxConnections, stopping.signal);

  const refuse = (target: Target, reason: string, remedy?: string) => {
    traffic.refuse(target, reason, remedy);
    return refusalAnswer(target, reason, remedy);
  };
  /** A connection to the host that was asked for, or what to answer instead. */
  const reach = async (read: ReadTarget): Promise<Reached | ProxyAnswer> => {
    if (read.kind === "odd") return refuse(read.shown, read.reason);
    const { target, path } = read;
    const admission = await admit(target);
    if (admission.kind === "refused") return refuse(target, admission.reason, admission.remedy);
    if (admission.kind === "unresolved") return unreachableAnswer(target, admission.failure);
    return dial(target, admission.addresses, stopping.signal).then(
      (upstream) => {
        traffic.opened(target, upstream);
        return { kind: "reached", target, path, upstream, admission };
      },
      (error: NodeJS.ErrnoException) => unreachableAnswer(target, error.code ?? "no reason given"),
    );
  };

  const plain = async (request: IncomingMessage, response: ServerResponse) => {
    if (api && request.url?.startsWith("/")) return api.answer(request, response);
    const reached = await reach(readPlainTarget(request.url ?? ""));
    if (reached.kind === "answer") return sendAnswer(request, response, reached);
    if (response.destroyed) reached.upstream.destroy();
    else passPlain(request, response, reached);
  };
  const tunnel = async (request: IncomingMessage, head: Buffer) => {
    const client = request.socket;
    client.on("error", () => undefined);
    client.setTimeout(0);
    client.pause();
    const reached = await reach(readTunnelTarget(request.url ?? ""));
    if (reached.kind === "answer") return client.end(rawAnswer(reached));
    const { target, upstream, admission } = reached;
    if (client.destroyed) return upstream.destroy();
    const onRefused = ({ reason, isOtherProtocol }: TunnelRefusal) =>
      refuse(target, reason, isOtherProtocol ? tcpRemedy(target, admission.pinned) : undefined);
    const { protocol } = admission;
    openTunnel(client, upstream, { head, host: target.host, protocol, helloTimeoutMs, onRefused });
  };

  const door = new Door({ requestTimeout: 0, keepAliveTimeout: 60_000 }, plain, limits);
  door.server.timeout = idleTime;
  door.server.on("connect", (request, _socket, head) => {
    tunnel(request, head).catch(() => request.socket.destroy());
  });
  const url = await door.open({ socketPath, socketMode });
  const stop = async () => {
    stopping.abort();
    await door.close();
  };
  return {
    ...(socketPath === undefined ? { url } : { socketPath }),
    refused: () => traffic.refusedHosts(),
    meter: () => traffic.snapshot(),
    countAnew: () => traffic.countAnew(),
    stop,
  };
}
