import { ChatError } from "@herdctl/core";
import { DiscordAPIError, DiscordjsError, DiscordjsErrorCodes } from "discord.js";

/** Messages and hints for Discord's error codes. */
const knownErrors: Record<number, [message: string, hint: string]> = {
  10003: ["The channel no longer exists.", "Remove it from the configuration."],
  10008: ["The message no longer exists.", "It was deleted."],
  40005: ["The file is too large for Discord.", "Send a smaller file."],
  50001: [
    "The bot cannot see the channel.",
    "Give the bot's role the permission `View Channel` there.",
  ],
  50007: ["The user does not accept direct messages.", "They must allow them for the server."],
  50013: [
    "The bot lacks a permission in the channel.",
    "Give the bot's role `Send Messages`, `Send Messages in Threads`, `Attach Files`, `Add Reactions` and `Read Message History`.",
  ],
};

const wrongToken = new ChatError(
  "Discord rejected the bot token.",
  "Create a new token on the application's page, under Bot, and set it in the variable named by `token_env`.",
  false,
);

const missingIntent = new ChatError(
  "The application lacks the Message Content intent.",
  "Enable `Message Content Intent` on the application's page, under Bot.",
  false,
);

export function toChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  if (error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.TokenInvalid) {
    return wrongToken;
  }
  const text = error instanceof Error ? error.message : String(error);
  if (/disallowed intents/i.test(text)) return missingIntent;
  if (!(error instanceof DiscordAPIError)) {
    return new ChatError(`Cannot reach Discord: ${text}`, retryHint, true, {
      cause: error,
    });
  }
  if (error.status === 401) return wrongToken;
  const [message, hint] = knownErrors[Number(error.code)] ?? [
    `Discord returned an error: ${text}`,
    "",
  ];
  const isTransient = error.status >= 500 || error.status === 429;
  return new ChatError(message, hint, isTransient, { cause: error });
}

const retryHint = "herdctl retries automatically.";
