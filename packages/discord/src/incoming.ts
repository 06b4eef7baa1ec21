import type { Attachment, IncomingMessage, Room } from "@herdctl/core";
import type { BaseInteraction, Message } from "discord.js";

type Sender = IncomingMessage["sender"];

export function incomingMessage(message: Message, ourId: string): IncomingMessage {
  return {
    id: message.id,
    room: roomOf(message),
    sender: {
      id: message.author.id,
      name: message.member?.displayName ?? message.author.displayName,
      roles: [...(message.member?.roles.cache.keys() ?? [])],
      isBot: message.author.bot || message.webhookId !== null,
    },
    text: message.content.replaceAll(new RegExp(`<@!?${ourId}>`, "g"), "").trim(),
    mentionsUs: message.mentions.users.has(ourId),
    attachments: [...message.attachments.values()].map(attachmentOf),
    sentAt: message.createdAt,
    repliesTo: programsPost(message, ourId),
    repliesToPost: message.reference?.messageId,
  };
}

/** Discord sends along what a message replies to. */
function programsPost({ reference, channel }: Message, ourId: string): string | undefined {
  const post = channel.messages.cache.get(reference?.messageId ?? "");
  if (!post || post.author.id === ourId) return undefined;
  const isProgram = post.author.bot || post.webhookId !== null;
  return isProgram ? JSON.stringify([post.content, post.embeds]) : undefined;
}

export function senderOf(interaction: BaseInteraction): Sender {
  const { user, member } = interaction;
  const roles = member && "cache" in member.roles ? [...member.roles.cache.keys()] : [];
  return { id: user.id, name: user.displayName, roles, isBot: user.bot };
}

/** A thread is a channel of its own to Discord; rules and modes are those of the one around it. */
export function roomOf(at: Message | BaseInteraction): Room {
  const { channel, guildId: workspace } = at;
  const id = at.channelId ?? "";
  const direct = workspace === null;
  if (channel?.isThread()) {
    return { workspace, channel: channel.parentId ?? id, thread: id, direct };
  }
  return { workspace, channel: id, thread: null, direct };
}

function attachmentOf(one: {
  name: string;
  contentType: string | null;
  size: number;
  url: string;
}): Attachment {
  const { name, size: bytes, url } = one;
  return { name, type: one.contentType ?? "application/octet-stream", bytes, url };
}
