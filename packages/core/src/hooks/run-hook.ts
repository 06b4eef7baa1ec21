import type { Hook, HookOf } from "@herdctl/config";
import { Webhook } from "standardwebhooks";
import {
  type CommandResult,
  hostEnvironment,
  runHostCommand,
} from "../process-tree/host-command.ts";
import { sendToDiscord, sendToSlack } from "./chat-messages.ts";
import { failed, type HookAttempt, type HookResult, succeeded } from "./hook-attempt.ts";
import { httpPost } from "./http-post.ts";

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
  const signed = secret ? webhookHeaders(run.id, body, secret) : { "webhook-id": run.id };
  const headers = { ...hook.headers, ...signed };
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

/** Runs a command on the host, in the fleet's folder, with the job on its standard input. */
async function runShellHook(hook: HookOf<"shell">, attempt: HookAttempt): Promise<HookResult> {
  const { run, workingDirectory, signal, context } = attempt;
  const output = new TailBuffer();
  const appendOutput = (data: Buffer) => output.add(data);
  const end = await runHostCommand({
    command: hook.command,
    folder: workingDirectory,
    env: hookEnvironment(hook, attempt),
    token: hookToken(run.id, run.attempts),
    input: `${JSON.stringify(context)}\n`,
    signal,
    onStdout: appendOutput,
    onStderr: appendOutput,
  });
  return { ...toHookResult(end, signal), output: output.text };
}

/**
 * Marks the processes of one attempt, so that they are found even if their fleet process is dead.
 */
export function hookToken(id: string, attempt: number): string {
  return `${id}-${attempt}`;
}

function toHookResult(end: CommandResult, signal: AbortSignal): HookResult {
  if (end.kind === "aborted") return failed(String(signal.reason));
  if (end.kind === "unstarted") {
    return failed(`the command could not be started: ${end.error.message}`);
  }
  if (end.code === 0) return succeeded("exit 0");
  return failed(end.code === null ? `ended by ${end.signal}` : `exit ${end.code}`);
}

function hookEnvironment(
  hook: HookOf<"shell">,
  { run, context, environment }: HookAttempt,
): Record<string, string> {
  return {
    ...hostEnvironment(environment),
    ...hook.env,
    HERDCTL_JOB: context.job.id,
    HERDCTL_AGENT: context.job.agent,
    HERDCTL_STATUS: context.job.status,
    HERDCTL_OUTCOME: (context.wait ?? context.job).outcome?.code ?? "",
    HERDCTL_EVENT: run.event,
    HERDCTL_HOOK: run.id,
    HERDCTL_ATTEMPT: String(run.attempts),
    HERDCTL_REQUEST: context.question?.id ?? "",
    HERDCTL_URL: context.url ?? "",
  };
}

const maxOutputBytes = 16 * 1024;

/** Keeps the end of an output of any length. */
class TailBuffer {
  private tail = Buffer.alloc(0);
  private isTruncated = false;

  add(data: Buffer): void {
    const combined = Buffer.concat([this.tail, data]);
    this.isTruncated ||= combined.length > maxOutputBytes;
    this.tail = combined.subarray(-maxOutputBytes);
  }

  get text(): string {
    return `${this.isTruncated ? "…" : ""}${this.tail.toString("utf8").trimEnd()}`;
  }
}
