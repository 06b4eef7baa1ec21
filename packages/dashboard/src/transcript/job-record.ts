import type { Approval, Attempt, Job } from "@herdctl/server/contract";

/** A job with its related records, without its output. */
export interface JobRecord {
  job: Job;
  attempts: Attempt[];
  approvals: Approval[];
  /** Jobs that its agent delegated, oldest first. */
  delegatedJobs: Job[];
}

/** Unix time in milliseconds; null for a missing time. */
export function toEpochMs(time: string | null): number | null {
  const epochMs = time === null ? Number.NaN : Date.parse(time);
  return Number.isNaN(epochMs) ? null : epochMs;
}
