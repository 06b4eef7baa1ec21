import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { credentialHeaders, type GatewayCredential, headersFor } from "./credential.ts";

/** They concern one connection and never travel on. */
const hopByHop = [
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
  open: boolean,
): OutgoingHttpHeaders {
  const stripped = credential.kind === "passthrough" ? [] : credentialHeaders;
  return {
    ...travelling(headers, [...stripped, "host", "cookie"]),
    host,
    // The meter reads the answer as it passes, so it must come uncompressed.
    "accept-encoding": "identity",
    ...(open ? {} : headersFor(credential)),
  };
}

export function clientHeaders(
  headers: IncomingHttpHeaders,
  mask: (text: string) => string,
): OutgoingHttpHeaders {
  const kept = travelling(headers, ["set-cookie"]);
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [name, mask(String(value))]),
  );
}

/** What goes on of the headers of one hop. */
export function travelling(
  headers: IncomingHttpHeaders,
  without: readonly string[],
): Record<string, string | string[]> {
  const named = (headers.connection ?? "").toLowerCase().split(/[\s,]+/);
  const dropped = new Set([...hopByHop, ...named, ...without]);
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !dropped.has(name)) kept[name] = value;
  }
  return kept;
}
