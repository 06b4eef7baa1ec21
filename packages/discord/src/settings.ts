import { ChatError, type ConnectorOptions } from "@herdctl/core";

type Settings = NonNullable<ConnectorOptions["settings"]["discord"]>;

export interface DiscordSettings extends Settings {
  token: string;
}

/** The agent's Discord settings, with the bot token. */
export function readSettings({ settings, environment }: ConnectorOptions): DiscordSettings {
  const { discord } = settings;
  if (!discord) throw new Error("the agent has no `chat.discord` settings");
  const token = environment[discord.token_env]?.trim();
  if (token) return { ...discord, token };
  throw new ChatError(
    `${discord.token_env} is not set.`,
    "Set it to the bot's token, in the fleet's environment or in `.env` next to the fleet file.",
    false,
  );
}
