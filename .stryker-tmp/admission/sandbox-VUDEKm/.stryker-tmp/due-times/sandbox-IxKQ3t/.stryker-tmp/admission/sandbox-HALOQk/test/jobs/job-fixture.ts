import type { UnfinishedJob } from "../../packages/protocol/src/records/job.ts";

export const noon = new Date("2030-01-01T12:00:00.000Z");

/** The time this many seconds after noon. */
export function secondsAfterNoon(seconds: number): Date {
  return new Date(noon.getTime() + seconds * 1000);
}

export function liveJob(id: string, change: Partial<UnfinishedJob> = {}): UnfinishedJob {
  return {
    id,
    agent: "coder",
    schedule: null,
    status: "pending",
    priority: 0,
    created_at: noon.toISOString(),
    due_at: null,
    waits_for: [],
    ...change,
  };
}
