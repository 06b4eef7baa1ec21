import type { Context, MiddlewareHandler } from "hono";

/**
 * Rejects bodies that are too large: by their announced size, or, if there is none, while they
 * arrive. Hono's own `bodyLimit` needs Node's global `Request`, which this server does not replace.
 */
export function limitBodySize(
  maxBytes: number,
  onTooLarge: (c: Context) => Response,
): MiddlewareHandler {
  return async (c, next) => {
    const length = c.req.header("content-length");
    if (length !== undefined && c.req.header("transfer-encoding") === undefined)
      return Number(length) > maxBytes ? onTooLarge(c) : next();
    if (c.req.method === "GET" || c.req.method === "HEAD") return next();
    const text = await readText(c.req.raw.body, maxBytes);
    if (text === undefined) return onTooLarge(c);
    // Later readers get the text from here, because the stream is consumed.
    Object.assign(c.req.bodyCache, { text: Promise.resolve(text) });
    return next();
  };
}

/** Undefined if the body is too large. */
async function readText(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
