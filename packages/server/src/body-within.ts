import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";

/**
 * Refuses what is too large. Hono's own limit makes a stream of every body before it looks at its
 * length, which takes longer than all the rest of reading a request; so it is asked only where
 * nothing else tells the length.
 */
export function bodyWithin(maxSize: number, refuse: (c: Context) => Response): MiddlewareHandler {
  const counted = bodyLimit({ maxSize, onError: refuse });
  return async (c, next) => {
    const length = c.req.header("content-length");
    if (length === undefined || c.req.header("transfer-encoding") !== undefined)
      return c.req.method === "GET" ? next() : counted(c, next);
    return Number(length) > maxSize ? refuse(c) : next();
  };
}
