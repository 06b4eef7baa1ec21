import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";

/**
 * Rejects bodies that are too large. Hono's `bodyLimit` turns every body into a stream, which is slow,
 * so it is used only for requests without a `content-length`.
 */
export function limitBodySize(
  maxBytes: number,
  onTooLarge: (c: Context) => Response,
): MiddlewareHandler {
  const limitByCounting = bodyLimit({ maxSize: maxBytes, onError: onTooLarge });
  return async (c, next) => {
    const length = c.req.header("content-length");
    if (length === undefined || c.req.header("transfer-encoding") !== undefined)
      return c.req.method === "GET" ? next() : limitByCounting(c, next);
    return Number(length) > maxBytes ? onTooLarge(c) : next();
  };
}
