import type { FleetControl, Job } from "@herdctl/protocol";
import { jobSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";

const pageSize = 1_000;
const maxJobs = 3_000;

export const timelineQuerySchema = z.strictObject({
  since: z.iso.datetime({ offset: true }).transform((time) => new Date(time)),
  agent: z.string().optional(),
});

const timelineEntrySchema = jobSchema
  .pick({
    id: true,
    agent: true,
    schedule: true,
    trigger_type: true,
    status: true,
    cost_usd: true,
    created_at: true,
    started_at: true,
    finished_at: true,
    duration_seconds: true,
  })
  .extend({ outcome: z.string().nullable() });
export type TimelineEntry = z.infer<typeof timelineEntrySchema>;

export const timelineSchema = z.object({
  jobs: z.array(timelineEntrySchema),
  /** False if older jobs were left out. */
  complete: z.boolean(),
});

/** Reads jobs in short form: a timeline of many jobs needs neither prompts nor reports. */
export async function readTimeline(
  control: FleetControl,
  query: z.output<typeof timelineQuerySchema>,
): Promise<z.output<typeof timelineSchema>> {
  const jobs: TimelineEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await control.jobs.list({ ...query, limit: pageSize, cursor });
    jobs.push(...page.jobs.map(toTimelineEntry));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && jobs.length < maxJobs);
  return { jobs, complete: cursor === undefined };
}

function toTimelineEntry({ outcome, ...job }: Job): TimelineEntry {
  const { id, agent, schedule, trigger_type, status, cost_usd } = job;
  const { created_at, started_at, finished_at, duration_seconds } = job;
  return {
    id,
    agent,
    schedule,
    trigger_type,
    status,
    cost_usd,
    created_at,
    started_at,
    finished_at,
    duration_seconds,
    outcome: outcome?.code ?? null,
  };
}
