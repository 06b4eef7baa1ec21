import { z } from "zod";
import { duration } from "./quantities.ts";
import { hostPath, someText, stringMap } from "./texts.ts";
import { cronExpression, pointInTime, timezone } from "./time.ts";
import { webhookFields } from "./webhook.ts";

const gate = z.strictObject({
  command: someText.describe("Shell command on the host; exit 0 lets the job be made"),
  timeout: duration.prefault("60s").describe("The gate counts as closed after this time"),
  env: stringMap.prefault({}).describe("Its variables, beside PATH, HOME and the like"),
});

const overlap = (usual: "skip" | "allow") =>
  z
    .enum(["skip", "queue", "cancel_running", "allow"])
    .prefault(usual)
    .describe("What to do when the last run of this schedule is not over");

const common = {
  prompt: someText.optional().describe("What the agent is told; else its `default_prompt`"),
  enabled: z.boolean().prefault(true).describe("Off until switched on"),
  overlap: overlap("skip"),
  gate: gate.optional().describe("A check on the host before a job is made"),
  resume_session: z
    .boolean()
    .optional()
    .describe("Whether its runs go on in a session; else as `session` of the agent says"),
  output_schema: z
    .union([hostPath, z.record(z.string(), z.unknown())])
    .optional()
    .describe("JSON Schema of the report that a run has to give, or a file with one"),
};

const timed = {
  timezone: timezone.optional().describe("IANA time zone; else the fleet's"),
  jitter: duration.optional().describe("Spread starts over this time"),
  catch_up: z
    .enum(["latest", "all", "skip"])
    .prefault("latest")
    .describe("Which due times missed while the fleet was down are run"),
  catch_up_window: duration.prefault("24h").describe("Older due times count as missed"),
};

const interval = z.strictObject({
  type: z.literal("interval"),
  every: duration.describe("Time between runs"),
  from: z.enum(["end", "start"]).prefault("end").describe("Counted from the end or start of a run"),
  ...timed,
  ...common,
});

const cron = z.strictObject({
  type: z.literal("cron"),
  cron: cronExpression.describe("Cron expression of five or six fields"),
  ...timed,
  ...common,
});

const at = z.strictObject({
  type: z.literal("at"),
  at: pointInTime.describe("The one time at which it runs"),
  ...timed,
  ...common,
});

/** Every delivery and every message is something of its own: to skip one because another is at work would lose it. */
const webhook = z.strictObject({
  type: z.literal("webhook"),
  ...webhookFields,
  ...common,
  overlap: overlap("allow"),
});

const chat = z.strictObject({
  type: z.literal("chat"),
  ...common,
  overlap: overlap("allow"),
});

export const schedule = z.discriminatedUnion("type", [interval, cron, at, webhook, chat]);
