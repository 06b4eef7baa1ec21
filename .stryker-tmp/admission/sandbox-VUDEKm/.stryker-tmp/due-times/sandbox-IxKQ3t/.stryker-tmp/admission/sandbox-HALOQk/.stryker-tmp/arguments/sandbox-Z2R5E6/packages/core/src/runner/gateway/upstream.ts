import http, { type ClientRequest, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { UserError } from "@herdctl/protocol";
import { type ConnectTarget, Preconnector } from "./preconnector.ts";

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
