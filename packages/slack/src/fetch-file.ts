import { ChatError, fetchBounded } from "@herdctl/core";
import type { SlackSettings } from "./settings.ts";

const host = "files.slack.com";

/** A file that came with a message, from Slack itself; nobody else is shown the token. */
export async function fetchFile(
  address: string,
  { base_url, token }: SlackSettings,
  most: number,
): Promise<Buffer> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.host !== host && url.host !== new URL(base_url).host)) {
    throw new ChatError("The file does not lie with Slack.", "It is not fetched.", false);
  }
  return fetchBounded(url, most, { authorization: `Bearer ${token}` });
}
