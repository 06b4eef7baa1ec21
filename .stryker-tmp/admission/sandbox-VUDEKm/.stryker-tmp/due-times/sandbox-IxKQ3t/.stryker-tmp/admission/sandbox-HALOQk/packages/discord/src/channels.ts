import { type APIMessage, type Client, Routes, SnowflakeUtil } from "discord.js";

const maxDirectMessageUsers = 50;
const pageSize = 100;

/** The smallest snowflake id for a time. */
export function toSnowflake(time: Date): string {
  return String(SnowflakeUtil.generate({ timestamp: BigInt(time.getTime()), increment: 0n }));
}

/** Channels, threads and direct message channels that may have messages since a snowflake. */
export async function findChannelsWithMessagesSince(
  client: Client<true>,
  since: string,
  userIds: readonly string[],
): Promise<string[]> {
  const activeChannels = [...client.channels.cache.values()].filter(
    (channel) => "lastMessageId" in channel && BigInt(channel.lastMessageId ?? 0) > BigInt(since),
  );
  const directChannelIds: string[] = [];
  for (const recipient_id of userIds.filter((id) => id !== "*").slice(0, maxDirectMessageUsers)) {
    const directChannel = await client.rest
      .post(Routes.userChannels(), { body: { recipient_id } })
      .catch(() => undefined);
    if (directChannel) directChannelIds.push((directChannel as { id: string }).id);
  }
  return [...new Set([...activeChannels.map(({ id }) => id), ...directChannelIds])];
}

/** All messages of a channel after a snowflake, oldest first. */
export async function readMessagesAfter(
  client: Client,
  channel: string,
  after: string,
): Promise<APIMessage[]> {
  const messages: APIMessage[] = [];
  for (let lastId = after; ; ) {
    const query = new URLSearchParams({ after: lastId, limit: String(pageSize) });
    const page = (await client.rest.get(Routes.channelMessages(channel), {
      query,
    })) as APIMessage[];
    messages.push(...page.reverse());
    lastId = page.at(-1)?.id ?? lastId;
    if (page.length < pageSize) return messages;
  }
}
