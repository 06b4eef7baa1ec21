import { z } from "zod";
import { duration } from "./quantities.ts";
import { hostPath, nonEmptyText, stringMap } from "./strings.ts";
import { cronExpression, pointInTime, timezone } from "./time.ts";
import { block, fleetOnly, free, granted } from "./trust.ts";
import { webhookFields } from "./webhook.ts";

const gateField = <T extends z.ZodType>(schema: T) => fleetOnly(schema, "gates run on the host");

const gate = block({
  command: gateField(
    nonEmptyText.describe("Shell command on the host. A job is created if it exits with code 0."),
  ),
  timeout: gateField(
    duration.prefault("60s").describe("Time after which the gate counts as closed."),
  ),
  env: gateField(
    stringMap
      .prefault({})
      .describe("Environment variables of the command, besides PATH, HOME and similar ones."),
  ),
});

const overlap = (defaultPolicy: "skip" | "allow") =>
  z
    .enum(["skip", "queue", "cancel_running", "allow"])
    .prefault(defaultPolicy)
    .describe("What to do if the last run of this schedule has not ended.");

const commonFields = {
  prompt: free(
    nonEmptyText.optional().describe("Prompt of the run. Default: the agent's `default_prompt`."),
  ),
  enabled: free(
    z.boolean().prefault(true).describe("`false` keeps the schedule off until you switch it on."),
  ),
  overlap: free(overlap("skip")),
  gate: gateField(gate.optional().describe("Check on the host before a job is created.")),
  resume_session: free(
    z
      .boolean()
      .optional()
      .describe("Whether its runs resume a session. Default: as set by the agent's `session`."),
  ),
  output_schema: granted(
    z
      .union([hostPath, z.record(z.string(), z.unknown())])
      .optional()
      .describe("JSON Schema of the report that a run must submit, or a file that contains it."),
    "schema_file",
  ),
};

const timingFields = {
  timezone: free(timezone.optional().describe("IANA time zone. Default: the fleet's time zone.")),
  jitter: free(duration.optional().describe("Spread start times over this duration.")),
  catch_up: free(
    z
      .enum(["latest", "all", "skip"])
      .prefault("latest")
      .describe("Which due times to run that were missed while the fleet was down."),
  ),
  catch_up_window: free(
    duration
      .prefault("24h")
      .describe("Age after which a due time counts as missed and is not run."),
  ),
};

const interval = block({
  type: free(z.literal("interval")),
  every: free(duration.describe("Time between runs.")),
  measured_from: free(
    z
      .enum(["end", "start"])
      .prefault("end")
      .describe("Whether the interval counts from the end or the start of a run."),
  ),
  ...timingFields,
  ...commonFields,
});

const cron = block({
  type: free(z.literal("cron")),
  cron: free(cronExpression.describe("Cron expression with five or six fields.")),
  ...timingFields,
  ...commonFields,
});

const at = block({
  type: free(z.literal("at")),
  at: free(pointInTime.describe("Time at which it runs once.")),
  ...timingFields,
  ...commonFields,
});

/**
 * Each delivery and each message is unique. Skipping one while another is running would lose it.
 */
const webhook = block({
  type: free(z.literal("webhook")),
  ...webhookFields,
  ...commonFields,
  overlap: free(overlap("allow")),
});

const chat = block({
  type: free(z.literal("chat")),
  ...commonFields,
  overlap: free(overlap("allow")),
});

export const schedule = z.discriminatedUnion("type", [interval, cron, at, webhook, chat]);
