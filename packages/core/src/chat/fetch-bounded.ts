import { ChatError } from "./connector.ts";

const patience = 30_000;

/** What lies at an address that was checked before; it may lead to no other, and have no more bytes than this. */
export async function fetchBounded(
  url: URL,
  most: number,
  headers: Record<string, string> = {},
): Promise<Buffer> {
  const signal = AbortSignal.timeout(patience);
  const response = await fetch(url, { headers, redirect: "error", signal });
  if (!response.ok || !response.body) {
    throw new ChatError("The file could not be fetched.", "", response.status >= 500);
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body) {
    size += part.length;
    if (size > most) throw new ChatError("The file is too long.", "", false);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
