import { ChatError, downloadAttachment } from "@herdctl/core";

const allowedHosts = ["cdn.discordapp.com", "media.discordapp.net"];

/** Downloads an attachment, only from Discord's hosts. */
export async function fetchAttachment(
  address: string,
  apiUrl: string,
  maxBytes: number,
): Promise<Buffer> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (!allowedHosts.includes(url.hostname) && url.host !== new URL(apiUrl).host)) {
    throw new ChatError("The file is not hosted by Discord.", "It was not downloaded.", false);
  }
  return downloadAttachment(url, maxBytes);
}
