import { ChatError } from "@herdctl/core";
import { WebAPIPlatformError } from "@slack/web-api";

const wrongToken: KnownError = [
  "Slack rejected the token.",
  "Copy it again from the app's page. The bot token starts with `xoxb-`, the app-level token with `xapp-`.",
];

type KnownError = [message: string, hint: string];

/** Messages and hints for Slack's error codes. */
const knownErrors: Record<string, KnownError> = {
  invalid_auth: wrongToken,
  not_authed: wrongToken,
  account_inactive: wrongToken,
  token_revoked: wrongToken,
  token_expired: wrongToken,
  not_allowed_token_type: wrongToken,
  channel_not_found: [
    "The app cannot see the channel.",
    "Invite it with `/invite` in the channel.",
  ],
  not_in_channel: ["The app is not in the channel.", "Invite it with `/invite` in the channel."],
  is_archived: ["The channel is archived.", "Remove it from the configuration."],
  message_not_found: ["The message no longer exists.", "It was deleted."],
  cant_update_message: ["The message cannot be edited.", "Another user or app wrote it."],
};

const transientErrorCodes = ["ratelimited", "internal_error", "fatal_error", "service_unavailable"];

export function toChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (!(error instanceof WebAPIPlatformError)) {
    const hint = "herdctl retries automatically.";
    return new ChatError(`Cannot reach Slack: ${text}`, hint, true, { cause: error });
  }
  const { error: code, needed } = error.data as { error: string; needed?: string };
  if (code === "missing_scope") {
    const message = `The app lacks the scope \`${needed ?? "?"}\`.`;
    const hint = "Add it on the app's page, under OAuth & Permissions, and reinstall the app.";
    return new ChatError(message, hint, false, { cause: error });
  }
  const [message, hint] = knownErrors[code] ?? [`Slack returned an error: ${code}`, ""];
  return new ChatError(message, hint, transientErrorCodes.includes(code), { cause: error });
}
