import type { ChatPlatform } from "@herdctl/core";
import { DiscordConnector } from "./discord-connector.ts";
import { examineDiscord } from "./examine.ts";

/** Discord, as herdctl's chats need it. */
export const discord: ChatPlatform = {
  open: (link) => new DiscordConnector(link),
  examine: examineDiscord,
};
