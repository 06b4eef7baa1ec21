/** A host and port from a client, normalized for comparison and forwarding. */
export interface Target {
  host: string;
  port: number;
}

export type ParsedTarget =
  | { kind: "target"; target: Target; path: string }
  /** `shown` is the requested target, sanitized for display. */
  | { kind: "odd"; shown: Target; reason: string };

/** Parses `host:port` of a CONNECT request. */
export function parseTunnelTarget(text: string): ParsedTarget {
  return parseAuthority(text, undefined, "");
}

/** Parses `http://host[:port]/path` of any other proxy request. */
export function parsePlainTarget(text: string): ParsedTarget {
  const match = /^(?<scheme>[a-z]+):\/\/(?<authority>[^/?#]*)(?<path>.*)$/is.exec(text);
  const { scheme = "", authority = "", path = "" } = match?.groups ?? {};
  if (scheme.toLowerCase() !== "http") {
    return invalidTarget(authority || text, "only http:// URLs and tunnels are supported");
  }
  if (!/^([/?][\x21\x22\x24-\x7e]*)?$/.test(path))
    return invalidTarget(authority, "the path contains invalid characters");
  return parseAuthority(authority, 80, path.startsWith("/") ? path : `/${path}`);
}

/**
 * Accepts only host names that every parser reads the same way: no user, no escapes, ASCII only, no
 * trailing dot, and nothing that a program could read as an address.
 */
// defence: hosts-by-name
function parseAuthority(text: string, defaultPort: number | undefined, path: string): ParsedTarget {
  const match = /^(?<host>[a-z0-9.-]+)(:(?<port>[1-9][0-9]{0,4}))?$/i.exec(text);
  const host = match?.groups?.host?.toLowerCase() ?? "";
  const port = Number(match?.groups?.port ?? defaultPort);
  if (host === "" || !(port < 65_536))
    return invalidTarget(text, "it is not a host name with a port");
  if (isNumericHost(host)) return invalidTarget(text, "hosts are allowed by name, not by address");
  if (!isHostName(host)) return invalidTarget(text, "it is not a host name");
  return { kind: "target", target: { host, port }, path };
}

const labelPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function isHostName(host: string): boolean {
  const labels = host.split(".");
  return (
    host.length <= 253 && !isNumericHost(host) && labels.every((label) => labelPattern.test(label))
  );
}

/** Most programs read a host that ends in a number as an address (decimal, octal, hex, long or short). */
function isNumericHost(host: string): boolean {
  const last = host.slice(host.lastIndexOf(".") + 1);
  return /^(\d+|0x[\da-f]*)$/.test(last);
}

const maxShownLength = 100;

function invalidTarget(text: string, reason: string): ParsedTarget {
  const port = Number(/:(\d{1,5})$/.exec(text)?.[1] ?? 0);
  const host = text.replace(/:\d{1,5}$/, "").slice(0, maxShownLength);
  return { kind: "odd", shown: { host: host.replace(/[^\x21-\x7e]/g, "?"), port }, reason };
}
