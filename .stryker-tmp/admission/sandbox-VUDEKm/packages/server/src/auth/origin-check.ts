import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { isLoopback } from "@herdctl/config";

/** The server's listen address and the host names it accepts. */
export interface OwnHost {
  host: string;
  allowedHosts: readonly string[];
}

/**
 * Detects cross-site requests and DNS rebinding: a foreign page can make a browser send requests,
 * and a foreign host name can resolve to this address. Both are visible in headers that pages cannot
 * set. Returns the reason for a violation.
 */
export function findOriginViolation(
  headers: IncomingHttpHeaders,
  ownHost: OwnHost,
  request: { method: string; isPage: boolean },
): string | undefined {
  const host = headers.host?.toLowerCase() ?? "";
  // defence: own-host-names
  if (!isOwnHostname(hostnameOf(host), ownHost))
    return "the `Host` header is not an allowed host name";
  const { origin } = headers;
  if (origin !== undefined && /* defence: same-origin */ hostOf(origin) !== host)
    return "cross-origin request";
  const fetchSite = headers["sec-fetch-site"];
  if (
    /* defence: fetch-site */ fetchSite === undefined ||
    fetchSite === "same-origin" ||
    fetchSite === "none"
  )
    return undefined;
  // Links from other pages are allowed: the page shows nothing without a login.
  const isNavigation =
    headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  return request.isPage && request.method === "GET" && isNavigation
    ? undefined
    : "cross-origin request";
}

function isOwnHostname(name: string, { host, allowedHosts }: OwnHost): boolean {
  if (name === "") return false;
  if ([host, ...allowedHosts].some((hostname) => hostname.toLowerCase() === name)) return true;
  if (isLoopback(name)) return isLoopback(host) || isWildcardAddress(host);
  // IP addresses cannot be rebound.
  return !isLoopback(host) && isIP(name) !== 0;
}

function isWildcardAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** The host without its port and without the brackets of an IPv6 address. */
function hostnameOf(host: string): string {
  const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?$/.exec(host) ?? [];
  return address ?? name ?? "";
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
