import type { IncomingMessage } from "node:http";

const maxBodyBytes = 64 * 1024 * 1024;

/** The body as text; undefined if it exceeds the limit. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  return size <= maxBodyBytes ? Buffer.concat(chunks).toString("utf8") : undefined;
}
