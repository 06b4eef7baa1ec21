import { z } from "zod";
import { suggest } from "../../document/did-you-mean.ts";
import { type OutcomeCode, outcomeCodeSchema } from "../../state/outcome.ts";
import { parseCondition } from "../condition/parse.ts";
import { count, duration } from "./quantities.ts";
import { someText, stringMap, url, variableName } from "./texts.ts";
import { block, fleetOnly } from "./trust.ts";
import { checkedText, Wrong } from "./wrong.ts";

const fleetFileOnly = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "hooks run on the host");

const condition = checkedText((text) => {
  const parsed = parseCondition(text);
  return parsed instanceof Wrong ? parsed : undefined;
});

const outcomeCode = checkedText((text) =>
  isOutcomeCode(text)
    ? undefined
    : new Wrong(`there is no outcome \`${text}\``, suggest(text, outcomeCodeSchema.options)),
);

function isOutcomeCode(text: string): text is OutcomeCode {
  return outcomeCodeSchema.safeParse(text).success;
}

const retry = block({
  max_attempts: fleetFileOnly(
    count.prefault(5).describe("Attempts in all; 1 for a hook that must not run twice"),
  ),
  backoff: fleetFileOnly(
    duration.prefault("10s").describe("Pause before the second attempt; grows fourfold"),
  ),
});

const common = {
  when: fleetFileOnly(condition.optional().describe("Condition on outcome, cost or metadata")),
  on: fleetFileOnly(z.array(outcomeCode).min(1).optional().describe("Outcome codes it runs for")),
  timeout: fleetFileOnly(duration.prefault("60s").describe("The hook is ended after this time")),
  retry: fleetFileOnly(retry.prefault({}).describe("What happens when the hook fails")),
};

const shell = block({
  type: fleetFileOnly(z.literal("shell")),
  command: fleetFileOnly(
    someText.describe("Shell command; the run's context is on its standard input"),
  ),
  env: fleetFileOnly(
    stringMap.prefault({}).describe("Variables of the command, beside a short list"),
  ),
  ...common,
});

const posted = {
  url: fleetFileOnly(url("https", "http").describe("Address that is posted to")),
  allow_private: fleetFileOnly(
    z.boolean().prefault(false).describe("The address may be one of this machine or its network"),
  ),
  ...common,
};

const webhook = block({
  type: fleetFileOnly(z.literal("webhook")),
  secret_env: fleetFileOnly(
    variableName
      .optional()
      .describe("Variable with the secret that it is signed with, as Standard Webhooks has it"),
  ),
  ...posted,
});

const message = <T extends "discord" | "slack">(type: T) =>
  block({
    type: fleetFileOnly(z.literal(type)),
    format: fleetFileOnly(
      z.enum(["embed", "text"]).prefault("embed").describe("A card, or plain lines"),
    ),
    ...posted,
  });

const hook = z.discriminatedUnion("type", [shell, webhook, message("discord"), message("slack")]);

export const hooks = block({
  after_run: fleetFileOnly(z.array(hook).prefault([]).describe("After every run")),
  on_error: fleetFileOnly(z.array(hook).prefault([]).describe("After a run that did not succeed")),
});

export type Hook = z.output<typeof hook>;
export type HookOf<T extends Hook["type"]> = Extract<Hook, { type: T }>;
