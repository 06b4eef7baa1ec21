import type { ChannelState, DiscordState, MessageState, UserState } from "./discord-state.ts";

/** Conversions from the state to the objects of Discord's API. */
export function toUserObject({ id, username, bot }: UserState) {
  return { id, username, discriminator: "0", global_name: username, avatar: null, bot };
}

export function toMemberObject({ roles }: UserState) {
  return { roles, joined_at: "2020-01-01T00:00:00.000Z", deaf: false, mute: false, flags: 0 };
}

export function toChannelObject(world: DiscordState, channel: ChannelState) {
  const { id, type, name, parent, recipient } = channel;
  const lastMessageId = world.messagesIn(id).at(-1)?.id ?? null;
  if (type === 1) {
    const user = world.users.get(recipient ?? "");
    return {
      id,
      type,
      last_message_id: lastMessageId,
      recipients: user ? [toUserObject(user)] : [],
    };
  }
  const thread = { thread_metadata: threadMetadata, owner_id: world.bot.id, member: {} };
  return {
    id,
    type,
    name,
    guild_id: world.guild.id,
    parent_id: parent,
    position: 0,
    permission_overwrites: [],
    last_message_id: lastMessageId,
    ...(type === 11 ? thread : {}),
  };
}

export function toMessageObject(world: DiscordState, message: MessageState) {
  const author = world.users.get(message.author) ?? world.bot;
  const channel = world.channels.get(message.channel);
  const isInGuild = channel?.type !== 1;
  const mentioned = message.mentions.flatMap((id) => world.users.get(id) ?? []);
  return {
    id: message.id,
    channel_id: message.channel,
    type: message.reference === null ? 0 : 19,
    content: message.content,
    author: toUserObject(author),
    ...(isInGuild ? { guild_id: world.guild.id, member: toMemberObject(author) } : {}),
    attachments: message.attachments,
    components: message.components,
    embeds: [],
    mentions: mentioned.map(toUserObject),
    mention_roles: [],
    mention_everyone: false,
    pinned: false,
    tts: false,
    flags: 0,
    timestamp: message.timestamp,
    edited_timestamp: message.edits.length > 0 ? new Date().toISOString() : null,
    ...(message.nonce === null ? {} : { nonce: message.nonce }),
    ...(message.reference === null
      ? {}
      : {
          message_reference: { message_id: message.reference, channel_id: message.channel },
          referenced_message: referencedMessage(world, message.reference),
        }),
  };
}

function referencedMessage(world: DiscordState, id: string): object | null {
  const message = world.messages.find((candidate) => candidate.id === id);
  return message ? toMessageObject(world, { ...message, reference: null }) : null;
}

const allPermissions = String(2n ** 50n - 1n);

export function toGuildObject(world: DiscordState) {
  const { id, name } = world.guild;
  const channels = [...world.channels.values()];
  const users = [...world.users.values()];
  return {
    id,
    name,
    owner_id: world.bot.id,
    roles: [id, ...world.roles].map((role, position) => ({
      id: role,
      name: role === id ? "@everyone" : role,
      permissions: allPermissions,
      position,
      color: 0,
      hoist: false,
    })),
    emojis: [],
    features: [],
    members: users.map((user) => ({ user: toUserObject(user), ...toMemberObject(user) })),
    member_count: users.length,
    channels: channels
      .filter(({ type }) => type === 0)
      .map((channel) => toChannelObject(world, channel)),
    threads: channels
      .filter(({ type }) => type === 11)
      .map((thread) => toChannelObject(world, thread)),
    presences: [],
    voice_states: [],
    stage_instances: [],
    guild_scheduled_events: [],
    joined_at: "2020-01-01T00:00:00.000Z",
    large: false,
    unavailable: false,
  };
}

const threadMetadata = {
  archived: false,
  auto_archive_duration: 1440,
  archive_timestamp: "2020-01-01T00:00:00.000Z",
  locked: false,
};
