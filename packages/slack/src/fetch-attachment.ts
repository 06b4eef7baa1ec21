import { ChatError, downloadAttachment } from "@herdctl/core";
import type { SlackSettings } from "./settings.ts";

const filesHost = "files.slack.com";

/** Downloads an attachment, only from Slack's hosts, so that the token is sent to Slack only. */
export async function fetchAttachment(
  address: string,
  { base_url, token }: SlackSettings,
  maxBytes: number,
): Promise<Buffer> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.host !== filesHost && url.host !== new URL(base_url).host)) {
    throw new ChatError("The file is not hosted by Slack.", "It was not downloaded.", false);
  }
  return downloadAttachment(url, maxBytes, { authorization: `Bearer ${token}` });
}
