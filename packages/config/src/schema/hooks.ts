import type { OutcomeCode } from "@herdctl/protocol";
import { outcomeCodeSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { parseCondition } from "../condition/parse.ts";
import { suggestionHint } from "../yaml/did-you-mean.ts";
import { checkedText, checkedValue, InvalidValue } from "./codec.ts";
import { count, duration } from "./quantities.ts";
import { nonEmptyText, stringMap, url, variableName } from "./strings.ts";
import { block, fleetOnly } from "./trust.ts";

const hookField = <T extends z.ZodType>(schema: T) => fleetOnly(schema, "hooks run on the host");

const condition = checkedText((text) => {
  const parsed = parseCondition(text);
  return parsed instanceof InvalidValue ? parsed : undefined;
});

const outcomeCode = checkedText((text) =>
  isOutcomeCode(text)
    ? undefined
    : new InvalidValue(
        `unknown outcome \`${text}\``,
        suggestionHint(text, outcomeCodeSchema.options),
      ),
);

function isOutcomeCode(text: string): text is OutcomeCode {
  return outcomeCodeSchema.safeParse(text).success;
}

const retry = block({
  max_attempts: hookField(
    count
      .prefault(5)
      .describe(
        "Maximum number of attempts, including the first; `1` for a hook that must not run twice.",
      ),
  ),
  backoff: hookField(
    duration
      .prefault("10s")
      .describe("Delay before the second attempt; quadruples with each further attempt."),
  ),
});

const commonFields = {
  when: hookField(
    condition
      .optional()
      .describe("Condition on facts of the job, such as outcome, cost or metadata."),
  ),
  timeout: hookField(duration.prefault("60s").describe("Time after which the hook is stopped.")),
  retry: hookField(retry.prefault({}).describe("Retries of a failed hook.")),
};

/** Not for questions: a job that asks has no outcome yet. */
const outcomeFields = {
  outcomes: hookField(
    z
      .array(outcomeCode)
      .min(1)
      .optional()
      .describe("Outcome codes for which the hook runs. Default: all."),
  ),
};

const shellFields = {
  type: hookField(z.literal("shell")),
  command: hookField(
    nonEmptyText.describe("Shell command; it receives the context of the run on standard input."),
  ),
  env: hookField(
    stringMap
      .prefault({})
      .describe("Environment variables of the command, besides a short default list."),
  ),
  ...commonFields,
};

const target = url("https", "http");

const postFields = {
  allow_private: hookField(
    z
      .boolean()
      .prefault(false)
      .describe("Allow addresses of this machine and of private networks."),
  ),
  ...commonFields,
};

const webhookFields = {
  type: hookField(z.literal("webhook")),
  url: hookField(target.describe("URL to post to.")),
  headers: hookField(
    stringMap.prefault({}).describe("Headers to send besides those of Standard Webhooks."),
  ),
  secret_env: hookField(
    variableName
      .optional()
      .describe("Environment variable with the signing secret (Standard Webhooks)."),
  ),
  ...postFields,
};

const messageFields = <T extends "discord" | "slack">(type: T) => ({
  type: hookField(z.literal(type)),
  url: hookField(
    target
      .optional()
      .describe("Incoming webhook to post to. Default: a bot posts to `channel_id`."),
  ),
  channel_id: hookField(
    nonEmptyText.optional().describe("Id of the channel to which a bot posts, without `url`."),
  ),
  token_env: hookField(
    variableName.optional().describe("Environment variable with the bot's token."),
  ),
  base_url: hookField(
    target.optional().describe("URL of the platform's API. Default: that of the platform."),
  ),
  format: hookField(
    z.enum(["embed", "text"]).prefault("embed").describe("`embed`: a card. `text`: plain lines."),
  ),
  ...postFields,
});

/** A message goes to an incoming webhook, or a bot posts it to a channel. */
const hasTarget = checkedValue(
  ({ url, channel_id, token_env }: { url?: string; channel_id?: string; token_env?: string }) => {
    const isComplete = channel_id !== undefined && token_env !== undefined;
    if (url === undefined && isComplete) return undefined;
    if (url !== undefined && channel_id === undefined) return undefined;
    return new InvalidValue(
      "a message needs one target",
      "Write the `url` of an incoming webhook, or `channel_id` and `token_env` of a bot.",
    );
  },
);

const hook = z.discriminatedUnion("type", [
  block({ ...shellFields, ...outcomeFields }),
  block({ ...webhookFields, ...outcomeFields }),
  block({ ...messageFields("discord"), ...outcomeFields }).check(hasTarget),
  block({ ...messageFields("slack"), ...outcomeFields }).check(hasTarget),
]);

const questionHook = z.discriminatedUnion("type", [
  block(shellFields),
  block(webhookFields),
  block(messageFields("discord")).check(hasTarget),
  block(messageFields("slack")).check(hasTarget),
]);

export const hooks = block({
  after_run: hookField(z.array(hook).prefault([]).describe("Hooks to run after every run.")),
  on_error: hookField(
    z.array(hook).prefault([]).describe("Hooks to run after a run that did not succeed."),
  ),
  on_question: hookField(
    z
      .array(questionHook)
      .prefault([])
      .describe("Hooks to run when an agent asks for a permission or an answer."),
  ),
  on_waiting: hookField(
    z
      .array(hook)
      .prefault([])
      .describe("Hooks to run when a job waits for its next attempt, except for a limit."),
  ),
  on_limit: hookField(
    z
      .array(hook)
      .prefault([])
      .describe("Hooks to run when a job waits for a rate limit or a usage limit."),
  ),
});

export type Hook = z.output<typeof hook>;
export type HookOf<T extends Hook["type"]> = Extract<Hook, { type: T }>;
