import { chatCommands } from "@herdctl/core";
import { ApplicationCommandOptionType } from "discord.js";

/** The chat commands as Discord slash commands. */
export const slashCommands = Object.entries(chatCommands).map(
  ([name, { summary, ...definition }]) => ({
    name,
    description: summary,
    options:
      "argument" in definition
        ? [
            {
              type: ApplicationCommandOptionType.String as const,
              name: "argument",
              description: `The ${definition.argument}`,
              required: true,
            },
          ]
        : [],
  }),
);
