import { type APIMessage, type Client, Routes, SnowflakeUtil } from "discord.js";

const mostPeople = 50;
const page = 100;

/** A snowflake that is older than all that was said since then. */
export function snowflakeOf(time: Date): string {
  return String(SnowflakeUtil.generate({ timestamp: BigInt(time.getTime()), increment: 0n }));
}

/** Where something may have been said since then: channels and threads we see, and direct ones. */
export async function channelsWithNews(
  client: Client<true>,
  since: string,
  people: readonly string[],
): Promise<string[]> {
  const seen = [...client.channels.cache.values()].filter(
    (channel) => "lastMessageId" in channel && BigInt(channel.lastMessageId ?? 0) > BigInt(since),
  );
  const direct: string[] = [];
  for (const recipient_id of people.filter((id) => id !== "*").slice(0, mostPeople)) {
    const opened = await client.rest
      .post(Routes.userChannels(), { body: { recipient_id } })
      .catch(() => undefined);
    if (opened) direct.push((opened as { id: string }).id);
  }
  return [...new Set([...seen.map(({ id }) => id), ...direct])];
}

/** All that was said in a channel after that, the oldest first. */
export async function messagesAfter(
  client: Client,
  channel: string,
  after: string,
): Promise<APIMessage[]> {
  const found: APIMessage[] = [];
  for (let last = after; ; ) {
    const query = new URLSearchParams({ after: last, limit: String(page) });
    const next = (await client.rest.get(Routes.channelMessages(channel), {
      query,
    })) as APIMessage[];
    found.push(...next.reverse());
    last = next.at(-1)?.id ?? last;
    if (next.length < page) return found;
  }
}
