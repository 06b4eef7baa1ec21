import type { Attachment, IncomingMessage, Room } from "@herdctl/core";
import { plain } from "./mrkdwn.ts";

/** A message as Slack tells of it, in an event or in the history of a channel. */
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

/** Subtypes that are still something a person says. */
const spoken = [undefined, "file_share", "thread_broadcast", "me_message"];

export function isSpoken({ subtype, user }: SlackMessage): boolean {
  return spoken.includes(subtype) && user !== undefined;
}

export function incomingMessage(
  message: SlackMessage,
  at: { team: string; channel: string; us: string; name: string; repliesTo?: string },
): IncomingMessage {
  const { ts, user = "", text = "", bot_id } = message;
  return {
    id: nameOf(at.channel, ts),
    room: roomOf(at.team, at.channel, message),
    sender: { id: user, name: at.name, roles: [], isBot: bot_id !== undefined || user === at.us },
    text: plain(text.replaceAll(`<@${at.us}>`, "")).trim(),
    mentionsUs: text.includes(`<@${at.us}>`),
    attachments: (message.files ?? []).map(attachmentOf),
    sentAt: timeOf(ts),
    repliesTo: at.repliesTo,
    // Slack's reply to a post is a thread below it.
    repliesToPost: message.thread_ts === ts ? undefined : message.thread_ts,
  };
}

/** A thread begins with a message of the channel, which is not part of it. */
export function roomOf(
  workspace: string,
  channel: string,
  { thread_ts, ts }: Pick<SlackMessage, "thread_ts"> & { ts?: string },
): Room {
  const thread = thread_ts !== undefined && thread_ts !== ts ? thread_ts : null;
  return { workspace, channel, thread, direct: channel.startsWith("D") };
}

/** A time stamp names a message within its channel only. */
function nameOf(channel: string, ts: string): string {
  return `${channel}/${ts}`;
}

export function tsOf(name: string): string {
  return name.split("/").at(-1) ?? name;
}

export function timeOf(ts: string): Date {
  return new Date(Number(ts) * 1000);
}

export function stampOf(time: Date): string {
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
