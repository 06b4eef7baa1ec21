import type { Approval, Attempt, Job } from "@herdctl/server/contract";

/** What is known of a job beside its output. */
export interface JobRecord {
  job: Job;
  attempts: Attempt[];
  approvals: Approval[];
  /** Jobs that its agent handed on, the oldest first. */
  handedOn: Job[];
}

/** Milliseconds; null for what has not happened. */
export function momentOf(time: string | null): number | null {
  const moment = time === null ? Number.NaN : Date.parse(time);
  return Number.isNaN(moment) ? null : moment;
}
