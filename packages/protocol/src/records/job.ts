import { z } from "zod";
import { artifactSchema } from "./artifact.ts";
import { chainSchema } from "./chain.ts";
import { jobGitSchema } from "./job-git.ts";
import { jobStatuses } from "./job-status.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { outcomeCodeSchema, outcomeSchema } from "./outcome.ts";
import { processIdentitySchema } from "./process-identity.ts";
import { usageSchema } from "./usage.ts";

export const jobStatusSchema = z.enum(jobStatuses);

export const triggerTypeSchema = z.enum([
  "manual",
  "interval",
  "cron",
  "at",
  "webhook",
  "chat",
  "work_item",
  "delegate",
]);
export type TriggerType = z.infer<typeof triggerTypeSchema>;

/** The runtime that created a session, which is the only one that can resume it. */
export const sessionHomeSchema = z.enum(["sdk", "cli", "docker"]);
export type SessionHomeKind = z.infer<typeof sessionHomeSchema>;

const time = z.iso.datetime();
const nullableText = z.string().nullable();

/** The node that a job is assigned to, the node's epoch, and the time of the assignment. */
export const assignmentSchema = z.object({
  node: z.string(),
  epoch: z.number().int(),
  at: time,
});
export type NodeAssignment = z.infer<typeof assignmentSchema>;

/** The configured image name, and the image ID that it referred to at the start of the run. */
export const containerImageSchema = z.object({ name: z.string(), id: z.string() });

/** Fields that are set at admission and never change. */
const requestFields = {
  agent: z.string().min(1),
  prompt: z.string(),
  trigger_type: triggerTypeSchema,
  /** The identity that triggered the job; missing in older records. */
  triggered_by: nullableText.default(null),
  schedule: nullableText,
  priority: z.number().int(),
  idempotency_key: z
    .string()
    .regex(/^[^\0]{1,500}$/)
    .nullable(),
  resumed_from: nullableText,
  forked_from: nullableText,
  /** The last message that a fork keeps; missing in older records. */
  fork_point: nullableText.default(null),
  /** `@path` and `/command` in the prompt are expanded, because an operator wrote it. */
  expand_prompt: z.boolean().default(false),
  /** The amount that budgets reserve for the job until it ends. */
  reserved_usd: z.number().nonnegative().nullable(),
  chain: chainSchema,
};

export const credentialKindSchema = z.enum(["subscription", "api_key", "provider"]);

/** A provider, and where its credential came from; never the credential itself. */
export const servedBySchema = z.object({
  type: z.enum(["bedrock", "vertex", "foundry", "anthropic_aws", "mantle", "custom"]),
  credential: z.string(),
});

/** Fields that change during the job. */
const progressFields = {
  status: jobStatusSchema,
  outcome: outcomeSchema.nullable(),
  session_id: nullableText,
  summary: nullableText,
  cost_usd: z.number().nonnegative().nullable(),
  usage: usageSchema.nullable(),
  runtime: z.enum(["sdk", "cli"]).nullable(),
  session_home: sessionHomeSchema.nullable(),
  credential: credentialKindSchema.nullable(),
  /** The service that served the models, if not the Anthropic API. */
  provider: servedBySchema.nullable(),
  container_id: nullableText,
  container_image: containerImageSchema.nullable(),
  claude_version: nullableText,
  metadata: z.record(z.string(), z.unknown()).nullable(),
  /** The result that the agent submitted: any JSON, or null. */
  report: z.unknown(),
  artifacts: z.array(artifactSchema),
  git: jobGitSchema.nullable(),
  warnings: z.array(z.string()),
  runner: processIdentitySchema.nullable(),
  /** A pending or waiting job does not start before this time. Null: it waits for a person or a job. */
  due_at: time.nullable(),
  /** Unfinished jobs of other agents that the job waits for. */
  waits_for: z.array(z.string()),
  /** The job read text from outside the fleet, or from an untrusted job. */
  untrusted: z.boolean(),
  /** The node that the job last ran on; null without a shared store. */
  node: nullableText,
  /** The node that the job is assigned to, until it starts there. */
  assigned: assignmentSchema.nullable(),
};

export const jobSchema = z.object({
  id: z.string(),
  ...requestFields,
  ...progressFields,
  /** The fields with a default are missing in older records. */
  container_image: progressFields.container_image.default(null),
  git: progressFields.git.default(null),
  node: progressFields.node.default(null),
  provider: progressFields.provider.default(null),
  assigned: progressFields.assigned.default(null),
  attempts: z.number().int().nonnegative(),
  /** Number of attempts that ended because the runner process died. */
  crashes: z.number().int().nonnegative(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  duration_seconds: z.number().nonnegative().nullable(),
  output_file: z.string(),
});
export type Job = z.infer<typeof jobSchema>;

/** An unfinished job with the fields that the queue reads. */
export type UnfinishedJob = Pick<
  Job,
  "id" | "agent" | "schedule" | "priority" | "created_at" | "due_at" | "waits_for"
> & { status: "pending" | "running" | "waiting" } & Partial<Pick<Job, "node" | "assigned">>;

/** A job to record. With `skipped`, admission refused it and records it with that outcome. */
export const newJobSchema = omitUndefined(
  z
    .object(requestFields)
    .partial()
    .required({ agent: true, prompt: true })
    .extend({
      id: z.string().optional(),
      runtime: progressFields.runtime.optional(),
      session_home: progressFields.session_home.optional(),
      untrusted: progressFields.untrusted.optional(),
      skipped: outcomeSchema.optional(),
    })
    .strict(),
);
export type NewJob = z.infer<typeof newJobSchema>;

/** The prompt changes at most once, when the gate has added its output. */
const changeableFields = { ...progressFields, prompt: requestFields.prompt };
export const jobChangeSchema = omitUndefined(z.object(changeableFields).partial().strict());
export type JobChange = z.infer<typeof jobChangeSchema>;

export const attemptSchema = z.object({
  job_id: z.string(),
  number: z.number().int().positive(),
  started_at: time,
  finished_at: time.nullable(),
  outcome_code: outcomeCodeSchema.nullable(),
  session_id: nullableText,
  /** The cost of this attempt only, although the session's total includes earlier runs. */
  cost_usd: z.number().nonnegative().nullable(),
  usage: usageSchema.nullable(),
  /** The runner died without writing a report. */
  crashed: z.boolean(),
});
export type Attempt = z.infer<typeof attemptSchema>;

export type AttemptResult = Pick<Attempt, "outcome_code" | "session_id" | "cost_usd"> &
  Partial<Pick<Attempt, "usage" | "crashed">>;
