import type { LiveJob } from "../../packages/core/src/state/job.ts";

export const noon = new Date("2030-01-01T12:00:00.000Z");

/** So many seconds after noon. */
export function at(seconds: number): Date {
  return new Date(noon.getTime() + seconds * 1000);
}

export function liveJob(id: string, change: Partial<LiveJob> = {}): LiveJob {
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
