import type { IncomingMessage } from "@herdctl/core";
import type { Attachment, ChatRoom } from "@herdctl/protocol";
import { fromMrkdwn } from "./mrkdwn.ts";

/** A message as in Slack's events and channel histories. */
export interface SlackMessage {
  ts: string;
  user?: string;
  text?: string;
  thread_ts?: string;
  subtype?: string;
  bot_id?: string;
  channel_type?: string;
  files?: {
    name?: string;
    title?: string;
    mimetype?: string;
    size?: number;
    url_private_download?: string;
    url_private?: string;
  }[];
  metadata?: { event_type?: string; event_payload?: { nonce?: string } };
  attachments?: unknown[];
  blocks?: unknown[];
}

/** Message subtypes that are written by users. */
const userMessageSubtypes = [undefined, "file_share", "thread_broadcast", "me_message"];

export function isUserMessage({ subtype, user }: SlackMessage): boolean {
  return userMessageSubtypes.includes(subtype) && user !== undefined;
}

export function toIncomingMessage(
  message: SlackMessage,
  context: { team: string; channel: string; botUserId: string; name: string; repliesTo?: string },
): IncomingMessage {
  const { ts, user = "", text = "", bot_id } = message;
  return {
    id: messageIdOf(context.channel, ts),
    room: roomOf(context.team, context.channel, message),
    sender: {
      id: user,
      name: context.name,
      roles: [],
      isBot: bot_id !== undefined || user === context.botUserId,
    },
    text: fromMrkdwn(text.replaceAll(`<@${context.botUserId}>`, "")).trim(),
    mentionsAgent: text.includes(`<@${context.botUserId}>`),
    attachments: (message.files ?? []).map(attachmentOf),
    sentAt: toDate(ts),
    repliedText: context.repliesTo,
    // In Slack, replies to a post are messages in its thread.
    repliedPostId: message.thread_ts === ts ? undefined : message.thread_ts,
  };
}

/** The first message of a thread belongs to the channel, not to the thread. */
export function roomOf(
  workspace: string,
  channel: string,
  { thread_ts, ts }: Pick<SlackMessage, "thread_ts"> & { ts?: string },
): ChatRoom {
  const thread = thread_ts !== undefined && thread_ts !== ts ? thread_ts : null;
  return { workspace, channel, thread, direct: channel.startsWith("D") };
}

/** Timestamps are unique only within a channel. */
function messageIdOf(channel: string, ts: string): string {
  return `${channel}/${ts}`;
}

export function timestampOf(name: string): string {
  return name.split("/").at(-1) ?? name;
}

export function toDate(ts: string): Date {
  return new Date(Number(ts) * 1000);
}

export function toTimestamp(time: Date): string {
  return (time.getTime() / 1000).toFixed(6);
}

function attachmentOf(file: NonNullable<SlackMessage["files"]>[number]): Attachment {
  return {
    name: file.name ?? "file",
    type: file.mimetype ?? "application/octet-stream",
    bytes: file.size ?? 0,
    url: file.url_private_download ?? file.url_private ?? "",
  };
}
