import { chatCommands } from "@herdctl/core";
import { ApplicationCommandOptionType } from "discord.js";

/** Our commands as Discord wants to be told of them. */
export const slashCommands = Object.entries(chatCommands).map(([name, { summary, ...more }]) => ({
  name,
  description: summary,
  options:
    "argument" in more
      ? [
          {
            type: ApplicationCommandOptionType.String as const,
            name: "argument",
            description: `Which ${more.argument}`,
            required: true,
          },
        ]
      : [],
}));
