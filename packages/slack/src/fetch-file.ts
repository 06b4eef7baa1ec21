import { ChatError } from "@herdctl/core";
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
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    redirect: "error",
    signal: AbortSignal.timeout(30_000),
  });
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
