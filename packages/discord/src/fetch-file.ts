import { ChatError, fetchBounded } from "@herdctl/core";

const hosts = ["cdn.discordapp.com", "media.discordapp.net"];

/** A file that came with a message, from Discord itself and nobody else. */
export async function fetchFile(address: string, api: string, most: number): Promise<Buffer> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (!hosts.includes(url.hostname) && url.host !== new URL(api).host)) {
    throw new ChatError("The file does not lie with Discord.", "It is not fetched.", false);
  }
  return fetchBounded(url, most);
}
