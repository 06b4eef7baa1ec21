import { z } from "zod";
import { duration } from "./quantities.ts";
import { someText, stringMap, variableName } from "./texts.ts";
import { cronExpression, pointInTime, timezone } from "./time.ts";

const gate = z.strictObject({
  command: someText.describe("Shell command on the host; exit 0 lets the job be made"),
  timeout: duration.prefault("60s").describe("The gate counts as closed after this time"),
});

const common = {
  prompt: someText.optional().describe("What the agent is told; else its `default_prompt`"),
  enabled: z.boolean().prefault(true).describe("Off until switched on"),
  overlap: z
    .enum(["skip", "queue", "cancel_running", "allow"])
    .prefault("skip")
    .describe("What to do when the last run of this schedule is not over"),
  gate: gate.optional().describe("A check on the host before a job is made"),
  resume_session: z.boolean().optional().describe("Go on in the agent's last session, or not"),
  output_schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("JSON Schema of the report that the run has to give"),
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

const signature = z.strictObject({
  kind: z
    .enum(["github", "standard", "slack", "hmac", "token"])
    .describe("How a delivery is signed"),
  secret_env: z
    .union([variableName, z.array(variableName).min(1).max(2)])
    .describe("Variable that holds the secret; two during a rotation"),
  header: z.string().optional().describe("Header of the signature, for `hmac` and `token`"),
  algorithm: z.enum(["sha256", "sha512"]).optional().describe("Digest, for `hmac`"),
});

const webhook = z.strictObject({
  type: z.literal("webhook"),
  signature: signature.describe("How deliveries prove where they come from"),
  on: z.array(someText).min(1).optional().describe("Events that count, such as `issues.labeled`"),
  filter: stringMap.optional().describe("Payload fields and the values they must have"),
  ...common,
});

const chat = z.strictObject({ type: z.literal("chat"), ...common });

export const schedule = z.discriminatedUnion("type", [interval, cron, at, webhook, chat]);
