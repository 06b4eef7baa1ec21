import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { isLoopback } from "@herdctl/core";

/** Where a fleet listens, and by which names it may be called. */
export interface Called {
  host: string;
  names: readonly string[];
}

/**
 * Whether a request was meant for us. A page of somebody else can make a browser send one, and a
 * name of somebody else can be made to lead to this address; both show in the headers, which no
 * page can write.
 */
export function foreignBecause(
  headers: IncomingHttpHeaders,
  called: Called,
  request: { method: string; isPage: boolean },
): string | undefined {
  const host = headers.host?.toLowerCase() ?? "";
  if (!isOwnName(nameOf(host), called)) return "this address is not known by that name";
  const { origin } = headers;
  if (origin !== undefined && hostOf(origin) !== host) return "another page sent this";
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return undefined;
  // A link on another page may lead here: what it opens is empty until somebody signs in.
  const isVisit =
    headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  return request.isPage && request.method === "GET" && isVisit
    ? undefined
    : "another page sent this";
}

function isOwnName(name: string, { host, names }: Called): boolean {
  if (name === "") return false;
  if ([host, ...names].some((own) => own.toLowerCase() === name)) return true;
  if (isLoopback(name)) return isLoopback(host) || isEvery(host);
  // No name leads astray where none is used.
  return !isLoopback(host) && isIP(name) !== 0;
}

function isEvery(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** Without the port, and without the brackets of an address. */
function nameOf(host: string): string {
  const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?$/.exec(host) ?? [];
  return address ?? name ?? "";
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
