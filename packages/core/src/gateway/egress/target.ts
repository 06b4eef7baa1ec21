/** A host and port as a client named them, in the one form that is compared and sent on. */
export interface Target {
  host: string;
  port: number;
}

export type ReadTarget =
  | { kind: "target"; target: Target; path: string }
  /** `shown` is what was asked for, as far as it is fit to be shown. */
  | { kind: "odd"; shown: Target; reason: string };

/** `host:port`, of a CONNECT request. */
export function readTunnelTarget(text: string): ReadTarget {
  return readAuthority(text, undefined, "");
}

/** `http://host[:port]/path`, of any other request to a proxy. */
export function readPlainTarget(text: string): ReadTarget {
  const match = /^(?<scheme>[a-z]+):\/\/(?<authority>[^/?#]*)(?<path>.*)$/is.exec(text);
  const { scheme = "", authority = "", path = "" } = match?.groups ?? {};
  if (scheme.toLowerCase() !== "http") {
    return odd(authority || text, "only http:// addresses and tunnels are opened");
  }
  if (!/^([/?][\x21\x22\x24-\x7e]*)?$/.test(path)) return odd(authority, "the path is not clean");
  return readAuthority(authority, 80, path.startsWith("/") ? path : `/${path}`);
}

/**
 * Names only, and only in letters that every reader takes the same way: no user, no escape, no
 * other alphabet, no dot at the end, and nothing that some program takes for an address.
 */
function readAuthority(text: string, usual: number | undefined, path: string): ReadTarget {
  const match = /^(?<host>[a-z0-9.-]+)(:(?<port>[1-9][0-9]{0,4}))?$/i.exec(text);
  const host = match?.groups?.host?.toLowerCase() ?? "";
  const port = Number(match?.groups?.port ?? usual);
  if (host === "" || !(port < 65_536)) return odd(text, "it is not the name of a host and a port");
  if (isNumeric(host)) return odd(text, "hosts are opened by name, not by address");
  if (!isName(host)) return odd(text, "it is not the name of a host");
  return { kind: "target", target: { host, port }, path };
}

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function isName(host: string): boolean {
  const labels = host.split(".");
  return host.length <= 253 && !isNumeric(host) && labels.every((one) => label.test(one));
}

/** What ends in a number is an address to most programs: decimal, octal, hex, long or short. */
function isNumeric(host: string): boolean {
  const last = host.slice(host.lastIndexOf(".") + 1);
  return /^(\d+|0x[\da-f]*)$/.test(last);
}

const longestShown = 100;

function odd(text: string, reason: string): ReadTarget {
  const port = Number(/:(\d{1,5})$/.exec(text)?.[1] ?? 0);
  const host = text.replace(/:\d{1,5}$/, "").slice(0, longestShown);
  return { kind: "odd", shown: { host: host.replace(/[^\x21-\x7e]/g, "?"), port }, reason };
}
