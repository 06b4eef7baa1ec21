import http, { type Agent, type ClientRequest, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { UserError } from "@herdctl/protocol";

/** The API, or the server configured in its place. */
export interface Upstream {
  url: URL;
  request(method: string, path: string, headers: OutgoingHttpHeaders): ClientRequest;
  /** Connects ahead of a request. */
  preconnect(): void;
  close(): void;
}

/** Close idle connections before the other side does, so that no request hits a closing connection. */
const idleTimeoutMs = 30_000;

/**
 * With a socket, the address only provides the host name. The gateway ignores proxy variables of the
 * environment and connects directly.
 */
export function connectUpstream(address: string | URL, socketPath?: string): Upstream {
  const url = parseAddress(String(address));
  const client = url.protocol === "https:" && socketPath === undefined ? https : http;
  const agent = new client.Agent({ keepAlive: true, timeout: idleTimeoutMs });
  const target = socketPath === undefined ? connectTargetOf(url) : { path: socketPath };
  const preconnector = new Preconnector(agent, target);
  const connectOptions = "path" in target ? { socketPath: target.path } : target;
  return {
    url,
    request: (method, path, headers) =>
      client.request({ method, path, headers, agent, ...connectOptions }),
    preconnect: () => preconnector.open(),
    close: () => {
      preconnector.close();
      agent.destroy();
    },
  };
}

function connectTargetOf({
  protocol,
  hostname,
  port,
}: URL): Exclude<ConnectTarget, { path: string }> {
  const defaultPort = protocol === "https:" ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || defaultPort };
}

function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // The address itself is not shown, because it may contain a password.
  const invalid = (problem: string) =>
    new UserError("config_invalid", `the API address ${problem}`, {
      hint: "Set ANTHROPIC_BASE_URL to an http:// or https:// address, or leave it unset.",
    });
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw invalid("is not an HTTP URL");
  if (url.username !== "" || url.password !== "") throw invalid("contains a user name or password");
  return url;
}

/** Below the time after which servers close a connection without requests. */
const maxIdleMs = 5_000;

/** Where the HTTP agent connects to. */
type ConnectTarget = { host: string; port: number } | { path: string };

/**
 * Opens a connection before a request needs it. Connecting takes several round trips with TLS, which
 * fit into the time that `claude` takes to start.
 */
class Preconnector {
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
