import {
  type Admission,
  type ClaudeMessage,
  idempotencyKeyPattern,
  type JobOutput,
  type JobPage,
  type JobQuery,
  type TriggerRequest,
} from "@herdctl/protocol";
import {
  attemptSchema,
  jobSchema,
  jobStatusSchema,
  outcomeCodeSchema,
} from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

const mebibyte = 1024 * 1024;
const maxPromptBytes = 4 * mebibyte;

/** JSON may escape one byte as two, such as quotes and line breaks. The rest is for all other fields. */
export const maxTriggerBodyBytes = 2 * maxPromptBytes + mebibyte;

const promptSchema = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= maxPromptBytes, "the prompt exceeds 4 MiB");

export const resumeSchema = z.strictObject({ prompt: promptSchema });

export const forkSchema = z.strictObject({
  prompt: promptSchema,
  /** The `uuid` of the last message to copy. */
  fork_point: z.uuid().optional(),
});

const keyMessage = "expected 1 to 500 characters without control characters";

export const triggerSchema = z.strictObject({
  agent: z.string().min(1),
  schedule: z.string().optional(),
  prompt: promptSchema.optional(),
  key: z.string().regex(idempotencyKeyPattern, keyMessage).optional(),
  resume: z.string().optional(),
  fork: z.string().optional(),
  fork_point: z.uuid().optional(),
  expand: z.boolean().optional(),
  stream: z.boolean().optional(),
  conversation: z.boolean().optional(),
} satisfies FieldSchemas<Omit<TriggerRequest, "forkPoint">> & { fork_point: z.ZodType });

export const admissionSchema = z.object({
  job: jobSchema,
  created: z.boolean(),
} satisfies FieldSchemas<Admission>);

const dateTimeSchema = z.iso.datetime({ offset: true }).transform((time) => new Date(time));

export const jobQuerySchema = z.strictObject({
  agent: z.string().optional(),
  status: jobStatusSchema.optional(),
  outcome: outcomeCodeSchema.optional(),
  skipped: z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .optional(),
  schedule: z.string().optional(),
  session: z.string().optional(),
  since: dateTimeSchema.optional(),
  until: dateTimeSchema.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.string().optional(),
} satisfies FieldSchemas<JobQuery>);

export const jobPageSchema = z.object({
  jobs: z.array(jobSchema),
  next_cursor: z.string().nullable(),
} satisfies FieldSchemas<JobPage>);

export const jobWithAttemptsSchema = z.object({ job: jobSchema, attempts: z.array(attemptSchema) });

export const waitQuerySchema = z.strictObject({
  /** In seconds. */
  timeout: z.coerce.number().positive().max(300).default(60),
});

export const outputQuerySchema = z.strictObject({
  from: z.coerce.number().int().nonnegative().optional(),
  follow: z.enum(["true", "false"]).default("false"),
});

/** Messages of Claude Code are passed on unchanged, including types that herdctl does not know. */
export const messageSchema = z.looseObject({
  type: z.string(),
}) as unknown as z.ZodType<ClaudeMessage>;

export const jobOutputSchema = z.object({
  message: messageSchema,
  offset: z.number().int().nonnegative(),
} satisfies FieldSchemas<JobOutput>);
