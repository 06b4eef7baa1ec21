import type { Hook } from "../config/schema/hooks.ts";
import { sendToDiscord } from "./discord.ts";
import type { HookAttempt } from "./hook-attempt.ts";
import type { HookResult } from "./hook-result.ts";
import { runShell } from "./shell.ts";
import { sendToSlack } from "./slack.ts";
import { sendWebhook } from "./webhook.ts";

export function deliver(hook: Hook, attempt: HookAttempt): Promise<HookResult> {
  switch (hook.type) {
    case "shell":
      return runShell(hook, attempt);
    case "webhook":
      return sendWebhook(hook, attempt);
    case "discord":
      return sendToDiscord(hook, attempt);
    case "slack":
      return sendToSlack(hook, attempt);
  }
}
