import { ChatError, type ChatLinkOptions } from "@herdctl/core";

type Settings = NonNullable<ChatLinkOptions["settings"]["discord"]>;

export interface DiscordSettings extends Settings {
  token: string;
}

/** The agent's words on Discord, with the token that they name. */
export function settingsOf({ settings, environment }: ChatLinkOptions): DiscordSettings {
  const { discord } = settings;
  if (!discord) throw new Error("the agent is not in Discord");
  const token = environment[discord.token_env]?.trim();
  if (token) return { ...discord, token };
  throw new ChatError(
    `${discord.token_env} is not set.`,
    "Put the bot's token into the environment of the fleet, or into `.env` beside the fleet file.",
    false,
  );
}
