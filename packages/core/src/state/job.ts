import { z } from "zod";
import { artifactSchema } from "./artifacts.ts";
import { chainSchema } from "./chain.ts";
import { given } from "./given.ts";
import { jobGitSchema } from "./job-git.ts";
import { jobStatuses } from "./job-status.ts";
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

/** Where a session was made, and so the only place where it can be resumed. */
export const placeSchema = z.enum(["sdk", "cli", "docker"]);
export type Place = z.infer<typeof placeSchema>;

const time = z.iso.datetime();
const text = z.string().nullable();

/** To which node it was given, as of which of its joins, and when. */
export const assignmentSchema = z.object({
  node: z.string(),
  epoch: z.number().int(),
  at: time,
});
export type Assignment = z.infer<typeof assignmentSchema>;

/** The image as it was configured, and the id that the name stood for when the run began. */
export const containerImageSchema = z.object({ name: z.string(), id: z.string() });

/** What is known of a job when it is accepted and never changes afterwards. */
const requestFields = {
  agent: z.string().min(1),
  prompt: z.string(),
  trigger_type: triggerTypeSchema,
  /** The identity of whoever or whatever triggered it; older records know none. */
  triggered_by: text.default(null),
  schedule: text,
  priority: z.number().int(),
  idempotency_key: z
    .string()
    .regex(/^[^\0]{1,500}$/)
    .nullable(),
  resumed_from: text,
  forked_from: text,
  /** The last message that a fork takes over; older records know none. */
  fork_point: text.default(null),
  /** `@path` and `/command` in its prompt take effect: an operator wrote it and allowed that. */
  expand_prompt: z.boolean().default(false),
  /** What budgets hold for it until it is over. */
  reserved_usd: z.number().nonnegative().nullable(),
  /** Where it stands among the jobs that agents gave each other. */
  chain: chainSchema,
};

/** What becomes known of it while it runs. */
const progressFields = {
  status: jobStatusSchema,
  outcome: outcomeSchema.nullable(),
  session_id: text,
  summary: text,
  cost_usd: z.number().nonnegative().nullable(),
  usage: usageSchema.nullable(),
  runtime: z.enum(["sdk", "cli"]).nullable(),
  place: placeSchema.nullable(),
  credential: z.enum(["subscription", "api_key"]).nullable(),
  container_id: text,
  container_image: containerImageSchema.nullable(),
  claude_version: text,
  metadata: z.record(z.string(), z.unknown()).nullable(),
  /** What the agent handed in as its result; any JSON, null when there is none. */
  report: z.unknown(),
  artifacts: z.array(artifactSchema),
  git: jobGitSchema.nullable(),
  warnings: z.array(z.string()),
  runner: processIdentitySchema.nullable(),
  /** A pending or waiting job is not claimed before this time; one that waits without it, for a person. */
  due_at: time.nullable(),
  /** Jobs of other agents whose end it waits for. */
  waits_for: z.array(z.string()),
  /** It read what came from outside, or from a job that did. */
  untrusted: z.boolean(),
  /** The node that it ran on last; none in a state that is not shared. */
  node: text,
  /** The node that is to begin it, until it has. */
  assigned: assignmentSchema.nullable(),
};

export const jobSchema = z.object({
  id: z.string(),
  ...requestFields,
  ...progressFields,
  /** Older records have none of these. */
  container_image: progressFields.container_image.default(null),
  git: progressFields.git.default(null),
  /** Older records know no nodes. */
  node: progressFields.node.default(null),
  assigned: progressFields.assigned.default(null),
  attempts: z.number().int().nonnegative(),
  /** How often its runner died under it. */
  crashes: z.number().int().nonnegative(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  duration_seconds: z.number().nonnegative().nullable(),
  output_file: z.string(),
});
export type Job = z.infer<typeof jobSchema>;

/** A job that is not finished, with what the queue decides by. */
export type LiveJob = Pick<
  Job,
  "id" | "agent" | "schedule" | "priority" | "created_at" | "due_at" | "waits_for"
> & { status: "pending" | "running" | "waiting" } & Partial<Pick<Job, "node" | "assigned">>;

/** A job to be accepted; one that is refused at the door is recorded as `skipped` with its outcome. */
export const newJobSchema = given(
  z
    .object(requestFields)
    .partial()
    .required({ agent: true, prompt: true })
    .extend({
      id: z.string().optional(),
      runtime: progressFields.runtime.optional(),
      place: progressFields.place.optional(),
      untrusted: progressFields.untrusted.optional(),
      skipped: outcomeSchema.optional(),
    })
    .strict(),
);
export type NewJob = z.infer<typeof newJobSchema>;

/** The prompt changes once at most: when its gate has answered. */
const changeFields = { ...progressFields, prompt: requestFields.prompt };
export const jobChangeSchema = given(z.object(changeFields).partial().strict());
export type JobChange = z.infer<typeof jobChangeSchema>;

export const attemptSchema = z.object({
  job_id: z.string(),
  number: z.number().int().positive(),
  started_at: time,
  finished_at: time.nullable(),
  outcome_code: outcomeCodeSchema.nullable(),
  session_id: text,
  /** What this attempt alone cost, though the session's own count goes on over resumes. */
  cost_usd: z.number().nonnegative().nullable(),
  usage: usageSchema.nullable(),
  /** Its runner died before it could say how it ended. */
  crashed: z.boolean(),
});
export type Attempt = z.infer<typeof attemptSchema>;

export type AttemptEnd = Pick<Attempt, "outcome_code" | "session_id" | "cost_usd"> &
  Partial<Pick<Attempt, "usage" | "crashed">>;
