import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import {
  buildCredentialHeaders,
  credentialHeaderNames,
  type GatewayCredential,
} from "./credential.ts";

/** They concern one connection and are never forwarded. */
const hopByHopHeaders = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

export function upstreamHeaders(
  headers: IncomingHttpHeaders,
  host: string,
  credential: GatewayCredential,
  isPublic: boolean,
): OutgoingHttpHeaders {
  // defence: no-client-credential
  const stripped = credential.kind === "passthrough" ? [] : credentialHeaderNames;
  return {
    ...forwardableHeaders(headers, [...stripped, "host", "cookie"]),
    host,
    // The meter reads the response, so it must be uncompressed.
    "accept-encoding": "identity",
    ...(isPublic ? {} : buildCredentialHeaders(credential)),
  };
}

export function clientHeaders(
  headers: IncomingHttpHeaders,
  mask: (text: string) => string,
): OutgoingHttpHeaders {
  const kept = forwardableHeaders(headers, ["set-cookie"]);
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [name, mask(String(value))]),
  );
}

/** The headers that may be forwarded to the next hop. */
export function forwardableHeaders(
  headers: IncomingHttpHeaders,
  excluded: readonly string[],
): Record<string, string | string[]> {
  const connectionHeaders = (headers.connection ?? "").toLowerCase().split(/[\s,]+/);
  const dropped = new Set([...hopByHopHeaders, ...connectionHeaders, ...excluded]);
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !dropped.has(name)) kept[name] = value;
  }
  return kept;
}
