import type { Hook, HookOf } from "@herdctl/config";
import { Webhook } from "standardwebhooks";
import { sendToDiscord, sendToSlack } from "./chat-messages.ts";
import { failed, type HookAttempt, type HookResult } from "./hook-attempt.ts";
import { httpPost } from "./http-post.ts";
import { runShellHook } from "./shell-hook.ts";

export function runHook(hook: Hook, attempt: HookAttempt): Promise<HookResult> {
  switch (hook.type) {
    case "shell":
      return runShellHook(hook, attempt);
    case "webhook":
      return sendWebhook(hook, attempt);
    case "discord":
      return sendToDiscord(hook, attempt);
    case "slack":
      return sendToSlack(hook, attempt);
  }
}

/**
 * Sends the context as JSON. If there is a secret, it is signed as defined by Standard Webhooks.
 */
export async function sendWebhook(
  hook: HookOf<"webhook">,
  { run, context, environment, signal }: HookAttempt,
): Promise<HookResult> {
  const body = JSON.stringify(context);
  const secret = hook.secret_env && environment[hook.secret_env];
  if (hook.secret_env && !secret) {
    return failed(`${hook.secret_env} is not set, so the webhook could not be signed`, {
      isTransient: false,
    });
  }
  const headers = secret ? webhookHeaders(run.id, body, secret) : { "webhook-id": run.id };
  const { url, allow_private: allowPrivate } = hook;
  return httpPost({ url, body, headers, allowPrivateHosts: allowPrivate, signal });
}

/** The id is the same for all attempts, so that a receiver can handle each hook once. */
function webhookHeaders(id: string, body: string, secret: string): Record<string, string> {
  const now = new Date();
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": createSigner(secret).sign(id, now, body),
  };
}

function createSigner(secret: string): Webhook {
  return secret.startsWith("whsec_") ? new Webhook(secret) : new Webhook(secret, { format: "raw" });
}
