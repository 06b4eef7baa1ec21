import type { ChatPlatformName, ChatRoom } from "@herdctl/protocol";
import { parseCommand } from "./commands.ts";
import type { ChatSettings, IncomingMessage, Speaker } from "./connector.ts";

export interface ListenRules extends SenderRules {
  mode: "mention" | "auto";
  directMessageMode: "mention" | "auto";
  modes: Record<string, "mention" | "auto">;
}

export type MessageClass =
  | { kind: "ignored"; reason: string }
  | { kind: "command"; name: string; argument: string }
  /**
   * A message to answer. `withContext`: earlier messages are included, because the agent listens to
   * mentions only.
   */
  | { kind: "answer"; withContext: boolean };

export function classifyMessage(rules: ListenRules, message: IncomingMessage): MessageClass {
  const { room, sender, text, mentionsAgent, attachments } = message;
  const speakerCheck = checkSpeaker(rules, room, sender);
  if (!speakerCheck.isAllowed) return { kind: "ignored", reason: speakerCheck.reason };
  const mode = listenModeOf(rules, message);
  if (mode === "mention" && !mentionsAgent)
    return { kind: "ignored", reason: "the agent is not mentioned" };
  const command = parseCommand(text);
  if (command) return { kind: "command", ...command };
  if (text.trim() === "" && attachments.length === 0) {
    return { kind: "ignored", reason: "the message is empty" };
  }
  return { kind: "answer", withContext: mode === "mention" };
}

function listenModeOf({ mode, directMessageMode, modes }: ListenRules, { room }: IncomingMessage) {
  if (room.direct) return directMessageMode;
  return (room.thread !== null && modes[room.thread]) || modes[room.channel] || mode;
}

type Settings<P extends ChatPlatformName> = NonNullable<ChatSettings[P]>;

/** The listen rules of the configuration, the same for every platform. */
export function listenRules(
  settings: ChatSettings,
  platform: ChatPlatformName,
): ListenRules | undefined {
  const { discord, slack } = settings;
  if (platform === "discord" && discord) {
    return { ...commonRules(discord), workspaces: discord.guilds, roles: discord.roles };
  }
  if (platform === "slack" && slack) {
    return { ...commonRules(slack), workspaces: slack.workspaces, roles: [] };
  }
  return undefined;
}

function commonRules(settings: Settings<ChatPlatformName>) {
  const {
    users,
    direct_message_users: directMessageUsers,
    mode,
    direct_message_mode: directMessageMode,
    channels,
  } = settings;
  const modes = Object.entries(channels).flatMap(([id, channel]) =>
    channel.mode ? [[id, channel.mode]] : [],
  );
  return {
    users,
    directMessageUsers,
    mode,
    directMessageMode,
    channels: Object.keys(channels),
    modes: Object.fromEntries(modes),
  };
}

/** Rules for who may talk to the agent, and where. `*` in a list allows everyone. */
export interface SenderRules {
  /** Servers or workspaces; an empty list allows all. */
  workspaces: string[];
  users: string[];
  roles: string[];
  /** Users who may send direct messages. */
  directMessageUsers: string[];
  /** An empty list allows all. */
  channels: string[];
}

export type SpeakerCheck = { isAllowed: true } | { isAllowed: false; reason: string };

/** The sender must be allowed; access to the channel is not enough. */
export function checkSpeaker(rules: SenderRules, room: ChatRoom, sender: Speaker): SpeakerCheck {
  // defence: no-bots
  if (sender.isBot) return denied("the sender is a bot");
  if (room.direct) {
    return includesOrAll(rules.directMessageUsers, sender.id)
      ? allowed
      : denied("the sender may not send direct messages");
  }
  const { workspace } = room;
  if (rules.workspaces.length > 0 && !(workspace && rules.workspaces.includes(workspace))) {
    return denied("the server or workspace is not listed");
  }
  const channelIds = [room.channel, room.thread ?? room.channel];
  if (rules.channels.length > 0 && !channelIds.some((id) => rules.channels.includes(id))) {
    return denied("the channel is not listed");
  }
  const hasRole = sender.roles.some((role) => rules.roles.includes(role));
  return hasRole || /* defence: listed-senders */ includesOrAll(rules.users, sender.id)
    ? allowed
    : denied("the sender is not listed");
}

const allowed: SpeakerCheck = { isAllowed: true };

function denied(reason: string): SpeakerCheck {
  return { isAllowed: false, reason };
}

function includesOrAll(list: string[], id: string): boolean {
  return list.includes("*") || list.includes(id);
}
