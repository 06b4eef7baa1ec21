import { ChatError } from "@herdctl/core";
import { DiscordAPIError, DiscordjsError, DiscordjsErrorCodes } from "discord.js";

/** What Discord says by number, in words that tell what to do. */
const known: Record<number, [message: string, hint: string]> = {
  10003: ["The channel is gone.", "Remove it from the configuration."],
  10008: ["The message is gone.", "Somebody deleted it."],
  40005: ["The file is too large for Discord.", "Make it smaller."],
  50001: ["The bot cannot see the channel.", "Give its role the permission `View Channel` there."],
  50007: ["The person takes no direct messages.", "They have to allow them for the server."],
  50013: [
    "The bot may not do that in the channel.",
    "Give its role `Send Messages`, `Send Messages in Threads`, `Attach Files`, `Add Reactions` and `Read Message History`.",
  ],
};

const wrongToken = new ChatError(
  "Discord does not know this token.",
  "Make a new one on the application's page, under Bot, and set the variable that `token_env` names.",
  false,
);

const missingIntent = new ChatError(
  "The application may not read what messages say.",
  "Switch on `Message Content Intent` on the application's page, under Bot.",
  false,
);

export function discordError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  if (error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.TokenInvalid) {
    return wrongToken;
  }
  const text = error instanceof Error ? error.message : String(error);
  if (/disallowed intents/i.test(text)) return missingIntent;
  if (!(error instanceof DiscordAPIError)) {
    return new ChatError(`Discord could not be reached: ${text}`, passes, true, { cause: error });
  }
  if (error.status === 401) return wrongToken;
  const [message, hint] = known[Number(error.code)] ?? [`Discord said: ${text}`, ""];
  const mayPass = error.status >= 500 || error.status === 429;
  return new ChatError(message, hint, mayPass, { cause: error });
}

const passes = "It is tried again.";
