import type { Job } from "../state/job.ts";
import type { FleetEvent } from "./control.ts";

const types = {
  completed: "job:completed",
  failed: "job:failed",
  cancelled: "job:cancelled",
  skipped: "job:skipped",
} as const;

/** What is told of a job whose attempt is over: how it ended, or that it goes on later. */
export function endEventOf(job: Job): FleetEvent {
  const type = job.status in types ? types[job.status as keyof typeof types] : "job:waiting";
  return { type, job };
}
