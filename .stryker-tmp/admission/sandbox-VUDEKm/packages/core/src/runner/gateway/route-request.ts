/** The upstream path of a request, or why it is refused. */
export type Route =
  | { kind: "forward"; path: string; isPublic: boolean }
  | { kind: "refuse"; status: 403 | 404; reason: string };

export interface GatewayOrigins {
  /** Origins that address this gateway in an absolute-form target. */
  ownOrigins: readonly string[];
  upstream: URL;
}

/** Public routes need no key and send no credential; the binaries use them to probe the API. */
const allowedRoutes = [
  { method: "POST", path: /* defence: gateway-routes */ /^\/v1\/messages$/, isPublic: false },
  { method: "POST", path: /^\/v1\/messages\/count_tokens$/, isPublic: false },
  { method: "GET", path: /^\/v1\/models(\/[A-Za-z0-9][A-Za-z0-9._:-]*)?$/, isPublic: false },
  { method: "HEAD", path: /^\/(api\/hello)?$/, isPublic: true },
];

/**
 * Paths are matched verbatim, so that encodings and dot segments cannot have a different meaning
 * upstream.
 */
export function routeRequest(method: string, target: string, origins: GatewayOrigins): Route {
  const localPath = toLocalPath(target, origins);
  if (localPath === undefined) {
    return { kind: "refuse", status: 403, reason: "this gateway does not forward to other hosts" };
  }
  const query = localPath.indexOf("?");
  const path = query === -1 ? localPath : localPath.slice(0, query);
  const route = allowedRoutes.find(
    (allowed) => allowed.method === method && allowed.path.test(path),
  );
  if (route === undefined) {
    return { kind: "refuse", status: 404, reason: "this gateway does not forward such requests" };
  }
  return {
    kind: "forward",
    path: withPrefix(origins.upstream, localPath),
    isPublic: route.isPublic,
  };
}

/** Claude Code 2.1.197 sends absolute-form targets if HTTP_PROXY is set. */
function toLocalPath(target: string, { ownOrigins, upstream }: GatewayOrigins): string | undefined {
  if (target.startsWith("/")) return target;
  const absolute = /^https?:\/\/[^/?#@\s]+(?<rest>\/[^\s#]*)$/i.exec(target);
  const rest = absolute?.groups?.rest;
  if (rest === undefined || !URL.canParse(target)) return undefined;
  const { origin } = new URL(target);
  if (ownOrigins.includes(origin)) return rest;
  // defence: gateway-origin
  if (origin !== upstream.origin) return undefined;
  const prefix = pathPrefixOf(upstream);
  return prefix !== "" && rest.startsWith(`${prefix}/`) ? rest.slice(prefix.length) : rest;
}

function withPrefix(upstream: URL, path: string): string {
  return `${pathPrefixOf(upstream)}${path}`;
}

function pathPrefixOf(upstream: URL): string {
  return upstream.pathname.replace(/\/+$/, "");
}
