import { ChatError } from "./connector.ts";

const timeoutMs = 30_000;

/** Downloads from an address that was checked before. Redirects and larger files are errors. */
export async function fetchBounded(
  url: URL,
  maxBytes: number,
  headers: Record<string, string> = {},
): Promise<Buffer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { headers, redirect: "error", signal });
  if (!response.ok || !response.body) {
    throw new ChatError("The file could not be downloaded.", "", response.status >= 500);
  }
  const chunks: Uint8Array[] = [];
  let totalBytes = 0;
  for await (const chunk of response.body) {
    totalBytes += chunk.length;
    if (totalBytes > maxBytes) throw new ChatError("The file is too large.", "", false);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
