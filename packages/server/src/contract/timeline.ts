import type { FleetControl, Job } from "@herdctl/core";
import { jobSchema } from "@herdctl/core/records";
import { z } from "zod";

const page = 1_000;
const most = 3_000;

export const timelineQuerySchema = z.strictObject({
  since: z.iso.datetime({ offset: true }).transform((time) => new Date(time)),
  agent: z.string().optional(),
});

const entrySchema = jobSchema
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
export type TimelineEntry = z.infer<typeof entrySchema>;

export const timelineSchema = z.object({
  jobs: z.array(entrySchema),
  /** False when there are older ones that were left out. */
  whole: z.boolean(),
});

/** What ran when, in short: a picture of hours with many jobs needs neither prompts nor reports. */
export async function timeline(
  control: FleetControl,
  query: z.output<typeof timelineQuerySchema>,
): Promise<z.output<typeof timelineSchema>> {
  const jobs: TimelineEntry[] = [];
  let cursor: string | undefined;
  do {
    const found = await control.jobs({ ...query, limit: page, cursor });
    jobs.push(...found.jobs.map(entryOf));
    cursor = found.next ?? undefined;
  } while (cursor !== undefined && jobs.length < most);
  return { jobs, whole: cursor === undefined };
}

function entryOf({ outcome, ...job }: Job): TimelineEntry {
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
