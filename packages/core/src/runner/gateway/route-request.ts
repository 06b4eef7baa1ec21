import { anthropicRoutes } from "./providers/anthropic-routes.ts";
import type { PathFacts, ProviderRoute, RouteUse } from "./providers/contract.ts";

/** The upstream path of a request, or why it is refused. */
type Route =
  | { kind: "forward"; path: string; use: RouteUse; facts: PathFacts }
  | { kind: "refuse"; status: 403 | 404; reason: string };

interface GatewayOrigins {
  /** Origins that address this gateway in an absolute-form target. */
  ownOrigins: readonly string[];
  upstream: URL;
}

interface GatewayRoutes {
  routes: readonly ProviderRoute[];
  readPath?: (path: string) => PathFacts;
}

/**
 * Paths are matched verbatim, so that encodings and dot segments cannot have a different meaning
 * upstream.
 */
export function routeRequest(
  method: string,
  target: string,
  origins: GatewayOrigins,
  { routes, readPath }: GatewayRoutes = { routes: anthropicRoutes },
): Route {
  const localPath = toLocalPath(target, origins);
  if (localPath === undefined) {
    return { kind: "refuse", status: 403, reason: "this gateway does not forward to other hosts" };
  }
  const query = localPath.indexOf("?");
  const path = query === -1 ? localPath : localPath.slice(0, query);
  const route = routes.find((allowed) => allowed.method === method && allowed.path.test(path));
  if (route === undefined) {
    return { kind: "refuse", status: 404, reason: "this gateway does not forward such requests" };
  }
  return {
    kind: "forward",
    path: withPrefix(origins.upstream, localPath),
    use: route.use,
    facts: readPath?.(path) ?? {},
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
