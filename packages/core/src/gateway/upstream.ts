import http, { type ClientRequest, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { UserError } from "../errors/user-error.ts";
import { ConnectionAhead, type Place } from "./connection-ahead.ts";

/** The API, or whatever stands in its place. */
export interface Upstream {
  url: URL;
  request(method: string, path: string, headers: OutgoingHttpHeaders): ClientRequest;
  /** Connects ahead of a request. */
  getReady(): void;
  close(): void;
}

/** Ours to end an idle connection, before a request runs into the other side's ending it. */
const idleTime = 30_000;

/**
 * With a socket the address only names the host. The proxy variables of the environment are not
 * looked at: the gateway connects directly.
 */
export function connectUpstream(address: string | URL, socketPath?: string): Upstream {
  const url = parseAddress(String(address));
  const client = url.protocol === "https:" && socketPath === undefined ? https : http;
  const agent = new client.Agent({ keepAlive: true, timeout: idleTime });
  const place = socketPath === undefined ? placeOf(url) : { path: socketPath };
  const ahead = new ConnectionAhead(agent, place);
  const where = "path" in place ? { socketPath: place.path } : place;
  return {
    url,
    request: (method, path, headers) => client.request({ method, path, headers, agent, ...where }),
    getReady: () => ahead.open(),
    close: () => {
      ahead.close();
      agent.destroy();
    },
  };
}

function placeOf({ protocol, hostname, port }: URL): Exclude<Place, { path: string }> {
  const usual = protocol === "https:" ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || usual };
}

function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // The address itself is not shown: it may hold a password.
  const invalid = (what: string) =>
    new UserError("config_invalid", `the address of the API ${what}`, {
      hint: "Set ANTHROPIC_BASE_URL to an http:// or https:// address, or leave it unset.",
    });
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw invalid("is not a web address");
  if (url.username !== "" || url.password !== "") throw invalid("holds a user name or password");
  return url;
}
