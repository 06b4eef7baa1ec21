import type { IncomingHttpHeaders } from "node:http";
import { bearerToken } from "./bearer-token.ts";
import { openCookie } from "./cookie.ts";
import { isSame, type Keys } from "./keys.ts";
import type { Scope, Visitor } from "./visitor.ts";

export type Identified =
  | { kind: "known"; visitor: Visitor; by: "cookie" | "token" }
  | { kind: "nobody" }
  /** A token was brought and is not ours. */
  | { kind: "wrong" };

/** Who asks, by what the request brings. A token that is wrong is not made good by a cookie. */
export function identify(
  headers: Pick<IncomingHttpHeaders, "authorization" | "cookie">,
  keys: Keys,
  now: Date,
): Identified {
  if (headers.authorization !== undefined) {
    const token = bearerToken(headers.authorization);
    const scope = token === undefined ? undefined : scopeOf(token, keys);
    return scope ? known(scope, "token") : { kind: "wrong" };
  }
  const scope = openCookie(headers.cookie, keys, now)?.scope;
  return scope ? known(scope, "cookie") : { kind: "nobody" };
}

function known(scope: Scope, by: "cookie" | "token"): Identified {
  return { kind: "known", visitor: { scope, isLocal: false }, by };
}

/** All are compared, whichever fits: the time it takes tells nothing. */
function scopeOf(token: string, { all, read }: Keys): Scope | undefined {
  const mayRead = read.map((one) => isSame(token, one)).some((same) => same);
  return isSame(token, all) ? "all" : mayRead ? "read" : undefined;
}
