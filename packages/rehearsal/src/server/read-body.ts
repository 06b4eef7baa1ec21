import type { IncomingMessage } from "node:http";

const largest = 64 * 1024 * 1024;

/** The body as text, or undefined when it is larger than any real request. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= largest) chunks.push(chunk);
  }
  return size <= largest ? Buffer.concat(chunks).toString("utf8") : undefined;
}
