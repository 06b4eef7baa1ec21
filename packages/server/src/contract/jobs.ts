import type {
  Admission,
  JobOutput,
  JobPage,
  JobQuery,
  SDKMessage,
  TriggerRequest,
} from "@herdctl/core";
import {
  attemptSchema,
  jobSchema,
  jobStatusSchema,
  outcomeCodeSchema,
  triggerTypeSchema,
} from "@herdctl/core/records";
import { z } from "zod";
import type { Shape } from "./shape.ts";

const mebibyte = 1024 * 1024;
const longestPrompt = 4 * mebibyte;

/** JSON may need two bytes for one, for quotes and line ends; the rest is for all but the prompt. */
export const triggerBodyLimit = 2 * longestPrompt + mebibyte;

const promptSchema = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= longestPrompt, "a prompt has at most 4 MiB");

export const resumeSchema = z.strictObject({ prompt: promptSchema });

export const forkSchema = z.strictObject({
  prompt: promptSchema,
  /** The `uuid` of the last message that the fork takes over. */
  at: z.uuid().optional(),
});

export const triggerSchema = z.strictObject({
  trigger: triggerTypeSchema.default("manual"),
  agent: z.string().min(1),
  schedule: z.string().optional(),
  prompt: promptSchema.optional(),
  key: z.string().optional(),
  resume: z.string().optional(),
  fork: z.string().optional(),
  forkAt: z.uuid().optional(),
  jobId: z.string().optional(),
  watched: z.boolean().optional(),
  live: z.boolean().optional(),
  expand: z.boolean().optional(),
} satisfies Shape<TriggerRequest>);

export const admissionSchema = z.object({
  job: jobSchema,
  created: z.boolean(),
  cancel: z.array(z.string()),
} satisfies Shape<Admission>);

const moment = z.iso.datetime({ offset: true }).transform((time) => new Date(time));

export const jobQuerySchema = z.strictObject({
  agent: z.string().optional(),
  status: jobStatusSchema.optional(),
  outcome: outcomeCodeSchema.optional(),
  schedule: z.string().optional(),
  session: z.string().optional(),
  since: moment.optional(),
  until: moment.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.string().optional(),
} satisfies Shape<JobQuery>);

export const jobPageSchema = z.object({
  jobs: z.array(jobSchema),
  next: z.string().nullable(),
} satisfies Shape<JobPage>);

export const jobWithAttemptsSchema = z.object({ job: jobSchema, attempts: z.array(attemptSchema) });

export const waitQuerySchema = z.strictObject({
  /** Seconds. */
  timeout: z.coerce.number().positive().max(300).default(60),
});

export const outputQuerySchema = z.strictObject({
  from: z.coerce.number().int().nonnegative().optional(),
  follow: z.enum(["true", "false"]).default("false"),
});

/** What claude says is claude's: we pass on more kinds than we know. */
export const messageSchema = z.looseObject({
  type: z.string(),
}) as unknown as z.ZodType<SDKMessage>;

export const jobOutputSchema = z.object({
  message: messageSchema,
  offset: z.number().int().nonnegative(),
} satisfies Shape<JobOutput>);
