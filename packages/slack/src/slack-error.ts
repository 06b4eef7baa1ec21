import { ChatError } from "@herdctl/core";
import { WebAPIPlatformError } from "@slack/web-api";

const wrongToken: Known = [
  "Slack does not know this token.",
  "Copy it anew from the app's page: the bot token begins with `xoxb-`, the app-level one with `xapp-`.",
];

type Known = [message: string, hint: string];

/** What Slack says in its own words, in words that tell what to do. */
const known: Record<string, Known> = {
  invalid_auth: wrongToken,
  not_authed: wrongToken,
  account_inactive: wrongToken,
  token_revoked: wrongToken,
  token_expired: wrongToken,
  not_allowed_token_type: wrongToken,
  channel_not_found: ["The app cannot see the channel.", "Invite it there with `/invite`."],
  not_in_channel: ["The app is not in the channel.", "Invite it there with `/invite`."],
  is_archived: ["The channel is archived.", "Remove it from the configuration."],
  message_not_found: ["The message is gone.", "Somebody deleted it."],
  cant_update_message: ["The message cannot be changed.", "It is not the app's own."],
};

const passing = ["ratelimited", "internal_error", "fatal_error", "service_unavailable"];

export function slackError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (!(error instanceof WebAPIPlatformError)) {
    const hint = "It is tried again.";
    return new ChatError(`Slack could not be reached: ${text}`, hint, true, { cause: error });
  }
  const { error: code, needed } = error.data as { error: string; needed?: string };
  if (code === "missing_scope") {
    const message = `The app lacks the scope \`${needed ?? "?"}\`.`;
    const hint = "Add it on the app's page, under OAuth & Permissions, and install the app anew.";
    return new ChatError(message, hint, false, { cause: error });
  }
  const [message, hint] = known[code] ?? [`Slack said: ${code}`, ""];
  return new ChatError(message, hint, passing.includes(code), { cause: error });
}
