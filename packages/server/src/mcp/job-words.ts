import type { Job } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import { type Fence, jobSchema, newFence } from "@herdctl/core/records";
import { z } from "zod";
import type { FleetReading } from "./fleet-road.ts";

/** What agents, and the texts they read, may have had a hand in: never shown but fenced. */
const words = {
  prompt: true,
  summary: true,
  report: true,
  artifacts: true,
  metadata: true,
  warnings: true,
} as const;
type Word = keyof typeof words;

/** What herdctl itself says of a job. */
const factsSchema = jobSchema.omit({ ...words, outcome: true, runner: true, output_file: true });

/** Enough to tell one job from another. */
export const briefSchema = factsSchema
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
  .extend({ outcome: z.string().nullable().describe("Code of how it ended") });

export const recordSchema = factsSchema.extend({
  outcome: jobSchema.shape.outcome,
  notice: z.string(),
  words: z.string().describe("Prompt, summary and other texts, fenced as untrusted data"),
});

export function briefOf(job: Job): z.output<typeof briefSchema> {
  return briefSchema.parse({ ...job, outcome: job.outcome?.code ?? null });
}

export function recordOf(job: Job): z.output<typeof recordSchema> {
  const fence = newFence();
  return recordSchema.parse({ ...job, notice: fence.notice, words: wordsOf(job, fence) });
}

export async function jobOf(fleet: Pick<FleetReading, "job">, id: string) {
  const found = await fleet.job(id);
  if (found) return found;
  throw new UserError("job_not_found", `there is no job ${id}`, {
    hint: "`list_jobs` lists them.",
  });
}

const longestWord = 8_000;

function wordsOf(job: Job, fence: Fence): string {
  const names = Object.keys(words).filter((name): name is Word => name in words);
  return names
    .map((name) => [name, textOf(job[name])] as const)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => fence.wrap(`job.${name}`, text, longestWord))
    .join("");
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const isNothing = value === null || (Array.isArray(value) && value.length === 0);
  return isNothing ? "" : JSON.stringify(value, null, 2);
}
