import { ChatError } from "@herdctl/core";

const hosts = ["cdn.discordapp.com", "media.discordapp.net"];

/** A file that came with a message, from Discord itself and nobody else. */
export async function fetchFile(address: string, api: string, most: number): Promise<Buffer> {
  const url = new URL(address);
  if (!hosts.includes(url.hostname) && url.host !== new URL(api).host) {
    throw new ChatError("The file does not lie with Discord.", "It is not fetched.", false);
  }
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(30_000) });
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
