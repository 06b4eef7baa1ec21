import { createFence, type Fence, type Job, UserError } from "@herdctl/protocol";
import { jobSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FleetReader } from "./fleet-provider.ts";

/** Fields that agents, or text they have read, can influence. They are always fenced. */
const untrustedFields = {
  prompt: true,
  summary: true,
  report: true,
  artifacts: true,
  metadata: true,
  warnings: true,
} as const;
type UntrustedField = keyof typeof untrustedFields;

/** Fields that only herdctl writes. */
const trustedFieldsSchema = jobSchema.omit({
  ...untrustedFields,
  outcome: true,
  runner: true,
  output_file: true,
});

/** The fields shown in lists. */
export const jobSummarySchema = trustedFieldsSchema
  .pick({
    id: true,
    agent: true,
    schedule: true,
    trigger_type: true,
    status: true,
    attempts: true,
    cost_usd: true,
    created_at: true,
    started_at: true,
    finished_at: true,
    duration_seconds: true,
  })
  .extend({ outcome: z.string().nullable().describe("Outcome code") });

export const jobRecordSchema = trustedFieldsSchema.extend({
  outcome: jobSchema.shape.outcome,
  notice: z.string(),
  texts: z.string().describe("Prompt, summary and other texts, fenced as untrusted data"),
});

export function toJobSummary(job: Job): z.output<typeof jobSummarySchema> {
  return jobSummarySchema.parse({ ...job, outcome: job.outcome?.code ?? null });
}

export function toJobRecord(job: Job): z.output<typeof jobRecordSchema> {
  const fence = createFence();
  return jobRecordSchema.parse({
    ...job,
    notice: fence.notice,
    texts: fenceUntrustedFields(job, fence),
  });
}

export async function requireJob(fleet: Pick<FleetReader, "jobs">, id: string) {
  const found = await fleet.jobs.get(id);
  if (found) return found;
  throw new UserError("job_not_found", `there is no job ${id}`, {
    hint: "Use `list_jobs` to list jobs.",
  });
}

const maxFieldChars = 8_000;

function fenceUntrustedFields(job: Job, fence: Fence): string {
  const names = Object.keys(untrustedFields).filter(isUntrustedField);
  return names
    .map((name) => [name, formatValue(job[name])] as const)
    .filter(([, text]) => text !== "")
    .map(([name, text]) =>
      /* defence: fenced-job-text */ fence.wrap(`job.${name}`, text, maxFieldChars),
    )
    .join("");
}

function isUntrustedField(name: string): name is UntrustedField {
  return name in untrustedFields;
}

function formatValue(value: unknown): string {
  if (typeof value === "string") return value;
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  return isEmpty ? "" : JSON.stringify(value, null, 2);
}
