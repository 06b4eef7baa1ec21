import type { IncomingMessage } from "@herdctl/core";
import type { Attachment, ChatRoom } from "@herdctl/protocol";
import type { BaseInteraction, Message } from "discord.js";

type Sender = IncomingMessage["sender"];

export function toIncomingMessage(message: Message, botUserId: string): IncomingMessage {
  return {
    id: message.id,
    room: roomOf(message),
    sender: {
      id: message.author.id,
      name: message.member?.displayName ?? message.author.displayName,
      roles: [...(message.member?.roles.cache.keys() ?? [])],
      isBot: message.author.bot || message.webhookId !== null,
    },
    text: message.content.replaceAll(new RegExp(`<@!?${botUserId}>`, "g"), "").trim(),
    mentionsAgent: message.mentions.users.has(botUserId),
    attachments: [...message.attachments.values()].map(attachmentOf),
    sentAt: message.createdAt,
    repliedText: findRepliedBotPost(message, botUserId),
    repliedPostId: message.reference?.messageId,
  };
}

/** The content of the bot post that a message replies to. Discord sends replied-to messages along. */
function findRepliedBotPost(
  { reference, channel }: Message,
  botUserId: string,
): string | undefined {
  const post = channel.messages.cache.get(reference?.messageId ?? "");
  if (!post || post.author.id === botUserId) return undefined;
  const isBotPost = post.author.bot || post.webhookId !== null;
  return isBotPost ? JSON.stringify([post.content, post.embeds]) : undefined;
}

export function senderOf(interaction: BaseInteraction): Sender {
  const { user, member } = interaction;
  const roles = member && "cache" in member.roles ? [...member.roles.cache.keys()] : [];
  return { id: user.id, name: user.displayName, roles, isBot: user.bot };
}

/** In Discord, a thread is a separate channel. herdctl applies the settings of its parent channel. */
export function roomOf(source: Message | BaseInteraction): ChatRoom {
  const { channel, guildId: workspace } = source;
  const id = source.channelId ?? "";
  const direct = workspace === null;
  if (channel?.isThread()) {
    return { workspace, channel: channel.parentId ?? id, thread: id, direct };
  }
  return { workspace, channel: id, thread: null, direct };
}

function attachmentOf(attachment: {
  name: string;
  contentType: string | null;
  size: number;
  url: string;
}): Attachment {
  const { name, size: bytes, url } = attachment;
  return { name, type: attachment.contentType ?? "application/octet-stream", bytes, url };
}
