import { isMap } from "yaml";
import type { Block } from "./block.ts";

const closedToAll =
  "everyone could talk to the agent there; here only the people in `users` can. Add their ids, or `*` for everyone";
const closedMessages =
  "direct messages were open to everyone; here only the people in `direct_message_users` can send them";

/** The `chat` block of an agent. */
export function translateChat(chat: Block): void {
  const discord = chat.block("discord");
  const slack = chat.block("slack");
  if (discord && needsTranslation(discord)) {
    translatePlatform(discord, undefined);
    translateDiscord(discord);
  }
  if (slack && needsTranslation(slack)) {
    translatePlatform(slack, "SLACK_BOT_TOKEN");
    if (!slack.has("app_token_env")) slack.set("app_token_env", "SLACK_APP_TOKEN");
  }
}

/** Whether a block uses a name or a form that exists only in the other format. */
function needsTranslation(platform: Block): boolean {
  const names = ["bot_token_env", "session_expiry_hours", "dm", "log_level", "output", "presence"];
  const hasName = names.some((name) => platform.has(name));
  const hasBlocks = ["guilds", "channels"].some((list) => platform.blocks(list).length > 0);
  return platform.isImport || hasName || hasBlocks;
}

function translatePlatform(platform: Block, defaultToken: string | undefined): void {
  platform.rename("bot_token_env", "token_env");
  if (!platform.has("token_env") && defaultToken) platform.set("token_env", defaultToken);
  const hours = platform.number("session_expiry_hours");
  if (hours !== undefined) platform.rename("session_expiry_hours", "session_expires", `${hours}h`);
  translateOutput(platform);
  translateGuilds(platform);
  translateChannels(platform);
  translateDirectMessages(platform);
  platform.drop("ignored", "log_level", "the whole conversation is in the job's log");
  if (!platform.has("users")) {
    platform.report("decision", "users", closedToAll);
    platform.set("users", []);
    platform.comment("users", `Decide: ${closedToAll}.`);
  }
}

function translateDiscord(discord: Block): void {
  const unused: Record<string, string> = {
    presence: "the presence of the bot cannot be set here",
    voice: "voice messages are not read here",
    attachments: "images can be sent to the agent without a setting here",
    command_registration: "commands such as `/stop` are typed as messages here",
    skills: "skills come from Claude Code's settings and plugins here",
  };
  for (const [key, message] of Object.entries(unused)) discord.drop("ignored", key, message);
}

function translateOutput(platform: Block): void {
  const output = platform.block("output");
  if (output?.value("result_summary") === true && !platform.has("footer"))
    platform.hoist("output", "result_summary", "footer");
  platform.drop("ignored", "output", "what a chat shows of a run cannot be chosen here");
}

/** `guilds: [{ id, channels, dm }]` becomes a list of ids and one block of channels. */
function translateGuilds(platform: Block): void {
  const guilds = platform.blocks("guilds");
  if (guilds.length === 0) return;
  const ids = guilds.map((guild) => String(guild.value("id")));
  const modes = new Set(guilds.map((guild) => guild.text("default_channel_mode")));
  const channels = guilds.flatMap((guild) => guild.blocks("channels"));
  const fallback = [...modes][0];
  if (modes.size === 1 && fallback !== undefined && !platform.has("mode"))
    platform.set("mode", fallback);
  else if ([...modes].some((mode) => mode !== undefined))
    platform.report(
      "decision",
      "guilds",
      "the mode of channels not listed is the same for all guilds here: `mode`",
    );
  const messages = guilds.flatMap((guild) => guild.block("dm") ?? []);
  platform.report(
    "renamed",
    "guilds",
    "guilds are a list of ids here, and `channels` is a block by id",
  );
  platform.set("guilds", ids);
  const firstMessages = messages[0];
  if (firstMessages && !platform.has("dm")) platform.set("dm", firstMessages.map);
  if (channels.length > 0) setChannels(platform, channels);
}

function translateChannels(platform: Block): void {
  const channels = platform.blocks("channels");
  if (platform.list("channels") === undefined) return;
  if (channels.length === 0) {
    platform.remove("channels");
    return;
  }
  platform.report("renamed", "channels", "channels are a block by id here");
  setChannels(platform, channels);
}

function setChannels(platform: Block, channels: readonly Block[]): void {
  const entries = channels.map((channel) => {
    const mode = channel.text("mode");
    return [String(channel.value("id")), mode === undefined ? {} : { mode }] as const;
  });
  const context = new Set(channels.flatMap((channel) => channel.number("context_messages") ?? []));
  if (context.size > 1)
    platform.report(
      "decision",
      "channels",
      "`context_messages` is the same for all channels here; the largest is used",
    );
  if (context.size > 0 && !platform.has("context_messages"))
    platform.set("context_messages", Math.min(100, Math.max(...context)));
  platform.set("channels", Object.fromEntries(entries));
  const block = platform.block("channels");
  for (const channel of channels) {
    const name = channel.text("name");
    if (name && block) block.comment(String(channel.value("id")), name);
  }
  if (block && isMap(block.map)) block.map.flow = false;
}

/** Without a list of people, direct messages were open to everyone. */
function translateDirectMessages(platform: Block): void {
  const messages = platform.block("dm");
  const isEnabled = messages?.value("enabled") !== false;
  const allowed = messages?.list("allowlist")?.toJSON();
  const mode = messages?.text("mode");
  if (messages?.has("blocklist"))
    messages.report(
      "decision",
      "blocklist",
      "there is no list of blocked people here; only listed people can write",
    );
  if (messages)
    platform.report(
      "renamed",
      "dm",
      "`dm` is `direct_message_users` and `direct_message_mode` here",
    );
  platform.remove("dm");
  if (!isEnabled || platform.has("direct_message_users")) return;
  if (mode !== undefined && mode !== "auto") platform.set("direct_message_mode", mode);
  const people = Array.isArray(allowed) ? allowed.map(String) : [];
  if (people.length === 0) platform.report("decision", "dm", closedMessages);
  platform.set("direct_message_users", people);
  if (people.length === 0) platform.comment("direct_message_users", `Decide: ${closedMessages}.`);
}
