import { z } from "zod";
import { duration } from "./quantities.ts";
import { hostPath, someText, stringMap } from "./texts.ts";
import { cronExpression, pointInTime, timezone } from "./time.ts";
import { block, fleetOnly, free, granted } from "./trust.ts";
import { webhookFields } from "./webhook.ts";

const fleetFileOnly = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "gates run on the host");

const gate = block({
  command: fleetFileOnly(
    someText.describe("Shell command on the host; exit 0 lets the job be made"),
  ),
  timeout: fleetFileOnly(
    duration.prefault("60s").describe("The gate counts as closed after this time"),
  ),
  env: fleetFileOnly(
    stringMap.prefault({}).describe("Its variables, beside PATH, HOME and the like"),
  ),
});

const overlap = (usual: "skip" | "allow") =>
  z
    .enum(["skip", "queue", "cancel_running", "allow"])
    .prefault(usual)
    .describe("What to do when the last run of this schedule is not over");

const common = {
  prompt: free(someText.optional().describe("What the agent is told; else its `default_prompt`")),
  enabled: free(z.boolean().prefault(true).describe("Off until switched on")),
  overlap: free(overlap("skip")),
  gate: fleetFileOnly(gate.optional().describe("A check on the host before a job is made")),
  resume_session: free(
    z
      .boolean()
      .optional()
      .describe("Whether its runs go on in a session; else as `session` of the agent says"),
  ),
  output_schema: granted(
    z
      .union([hostPath, z.record(z.string(), z.unknown())])
      .optional()
      .describe("JSON Schema of the report that a run has to give, or a file with one"),
    "schema_file",
  ),
};

const timed = {
  timezone: free(timezone.optional().describe("IANA time zone; else the fleet's")),
  jitter: free(duration.optional().describe("Spread starts over this time")),
  catch_up: free(
    z
      .enum(["latest", "all", "skip"])
      .prefault("latest")
      .describe("Which due times missed while the fleet was down are run"),
  ),
  catch_up_window: free(duration.prefault("24h").describe("Older due times count as missed")),
};

const interval = block({
  type: free(z.literal("interval")),
  every: free(duration.describe("Time between runs")),
  from: free(
    z.enum(["end", "start"]).prefault("end").describe("Counted from the end or start of a run"),
  ),
  ...timed,
  ...common,
});

const cron = block({
  type: free(z.literal("cron")),
  cron: free(cronExpression.describe("Cron expression of five or six fields")),
  ...timed,
  ...common,
});

const at = block({
  type: free(z.literal("at")),
  at: free(pointInTime.describe("The one time at which it runs")),
  ...timed,
  ...common,
});

/** Every delivery and every message is something of its own: to skip one because another is at work would lose it. */
const webhook = block({
  type: free(z.literal("webhook")),
  ...webhookFields,
  ...common,
  overlap: free(overlap("allow")),
});

const chat = block({
  type: free(z.literal("chat")),
  ...common,
  overlap: free(overlap("allow")),
});

export const schedule = z.discriminatedUnion("type", [interval, cron, at, webhook, chat]);
