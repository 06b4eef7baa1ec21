import { Webhook } from "standardwebhooks";
import type { HookOf } from "../config/schema/hooks.ts";
import type { HookAttempt } from "./hook-attempt.ts";
import { failed, type HookResult } from "./hook-result.ts";
import { post } from "./post.ts";

/** The context as JSON, signed as Standard Webhooks has it where there is a secret. */
export async function sendWebhook(
  hook: HookOf<"webhook">,
  { run, context, environment, signal }: HookAttempt,
): Promise<HookResult> {
  const body = JSON.stringify(context);
  const secret = hook.secret_env && environment[hook.secret_env];
  if (hook.secret_env && !secret) {
    return failed(`${hook.secret_env} is not set, so it could not be signed`, { mayPass: false });
  }
  const headers = secret ? signed(run.id, body, secret) : { "webhook-id": run.id };
  const { url, allow_private: allowPrivate } = hook;
  return post({ url, body, headers, allowPrivate, signal });
}

/** The id is the same over all attempts, so that a receiver takes each hook once. */
function signed(id: string, body: string, secret: string): Record<string, string> {
  const now = new Date();
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": signerOf(secret).sign(id, now, body),
  };
}

function signerOf(secret: string): Webhook {
  return secret.startsWith("whsec_") ? new Webhook(secret) : new Webhook(secret, { format: "raw" });
}
