/** What becomes of a request: the path to ask upstream, or why it goes no further. */
export type Route =
  | { kind: "forward"; path: string; open: boolean }
  | { kind: "refuse"; status: 403 | 404; reason: string };

export interface Origins {
  /** Under which a client may address the gateway in an absolute-form target. */
  own: readonly string[];
  upstream: URL;
}

/** An `open` route carries no credential up and asks for none: the binaries probe the API so. */
const routes = [
  { method: "POST", path: /^\/v1\/messages$/, open: false },
  { method: "POST", path: /^\/v1\/messages\/count_tokens$/, open: false },
  { method: "GET", path: /^\/v1\/models(\/[A-Za-z0-9][A-Za-z0-9._:-]*)?$/, open: false },
  { method: "HEAD", path: /^\/(api\/hello)?$/, open: true },
];

/**
 * Paths are matched as they are written, so that no encoding or dot segment can mean one thing
 * here and another upstream.
 */
export function routeRequest(method: string, target: string, origins: Origins): Route {
  const local = localTarget(target, origins);
  if (local === undefined) {
    return { kind: "refuse", status: 403, reason: "this gateway does not forward to other hosts" };
  }
  const query = local.indexOf("?");
  const path = query === -1 ? local : local.slice(0, query);
  const route = routes.find((one) => one.method === method && one.path.test(path));
  if (route === undefined) {
    return { kind: "refuse", status: 404, reason: "this gateway does not forward such requests" };
  }
  return { kind: "forward", path: withPrefix(origins.upstream, local), open: route.open };
}

/** 197 sends absolute-form targets when HTTP_PROXY is set. */
function localTarget(target: string, { own, upstream }: Origins): string | undefined {
  if (target.startsWith("/")) return target;
  const absolute = /^https?:\/\/[^/?#@\s]+(?<rest>\/[^\s#]*)$/i.exec(target);
  const rest = absolute?.groups?.rest;
  if (rest === undefined || !URL.canParse(target)) return undefined;
  const { origin } = new URL(target);
  if (own.includes(origin)) return rest;
  if (origin !== upstream.origin) return undefined;
  const prefix = prefixOf(upstream);
  return prefix !== "" && rest.startsWith(`${prefix}/`) ? rest.slice(prefix.length) : rest;
}

function withPrefix(upstream: URL, path: string): string {
  return `${prefixOf(upstream)}${path}`;
}

function prefixOf(upstream: URL): string {
  return upstream.pathname.replace(/\/+$/, "");
}
