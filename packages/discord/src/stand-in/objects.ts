import type { World, WorldChannel, WorldMessage, WorldUser } from "./world.ts";

/** What stands in a world, in the words of Discord's API. */
export function userObject({ id, username, bot }: WorldUser) {
  return { id, username, discriminator: "0", global_name: username, avatar: null, bot };
}

export function memberObject({ roles }: WorldUser) {
  return { roles, joined_at: "2020-01-01T00:00:00.000Z", deaf: false, mute: false, flags: 0 };
}

export function channelObject(world: World, channel: WorldChannel) {
  const { id, type, name, parent, recipient } = channel;
  const last = world.in(id).at(-1)?.id ?? null;
  if (type === 1) {
    const user = world.users.get(recipient ?? "");
    return { id, type, last_message_id: last, recipients: user ? [userObject(user)] : [] };
  }
  const thread = { thread_metadata: threadFields, owner_id: world.bot.id, member: {} };
  return {
    id,
    type,
    name,
    guild_id: world.guild.id,
    parent_id: parent,
    position: 0,
    permission_overwrites: [],
    last_message_id: last,
    ...(type === 11 ? thread : {}),
  };
}

export function messageObject(world: World, message: WorldMessage) {
  const author = world.users.get(message.author) ?? world.bot;
  const channel = world.channels.get(message.channel);
  const isInGuild = channel?.type !== 1;
  const mentioned = message.mentions.flatMap((id) => world.users.get(id) ?? []);
  return {
    id: message.id,
    channel_id: message.channel,
    type: message.reference === null ? 0 : 19,
    content: message.content,
    author: userObject(author),
    ...(isInGuild ? { guild_id: world.guild.id, member: memberObject(author) } : {}),
    attachments: message.attachments,
    components: message.components,
    embeds: [],
    mentions: mentioned.map(userObject),
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
          referenced_message: referenced(world, message.reference),
        }),
  };
}

function referenced(world: World, id: string): object | null {
  const message = world.messages.find((one) => one.id === id);
  return message ? messageObject(world, { ...message, reference: null }) : null;
}

const everything = String(2n ** 50n - 1n);

export function guildObject(world: World) {
  const { id, name } = world.guild;
  const channels = [...world.channels.values()];
  const people = [...world.users.values()];
  return {
    id,
    name,
    owner_id: world.bot.id,
    roles: [id, ...world.roles].map((role, position) => ({
      id: role,
      name: role === id ? "@everyone" : role,
      permissions: everything,
      position,
      color: 0,
      hoist: false,
    })),
    emojis: [],
    features: [],
    members: people.map((user) => ({ user: userObject(user), ...memberObject(user) })),
    member_count: people.length,
    channels: channels.filter(({ type }) => type === 0).map((one) => channelObject(world, one)),
    threads: channels.filter(({ type }) => type === 11).map((one) => channelObject(world, one)),
    presences: [],
    voice_states: [],
    stage_instances: [],
    guild_scheduled_events: [],
    joined_at: "2020-01-01T00:00:00.000Z",
    large: false,
    unavailable: false,
  };
}

const threadFields = {
  archived: false,
  auto_archive_duration: 1440,
  archive_timestamp: "2020-01-01T00:00:00.000Z",
  locked: false,
};
