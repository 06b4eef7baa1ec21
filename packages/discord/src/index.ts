import type { ChatPlatform } from "@herdctl/core";
import { checkDiscord } from "./check-discord.ts";
import { DiscordConnector } from "./discord-connector.ts";

/** The Discord integration. */
export const discord: ChatPlatform = {
  createConnector: (options) => new DiscordConnector(options),
  check: checkDiscord,
};
