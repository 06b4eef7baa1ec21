export const jobStatuses = [
  "pending",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "skipped",
] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** True if a job with this status has ended and its record is final. */
export function isFinished(status: JobStatus): boolean {
  return allowedTransitions[status].length === 0;
}

export const allowedTransitions: Record<JobStatus, readonly JobStatus[]> = {
  pending: ["running", "failed", "cancelled", "skipped"],
  running: ["waiting", "completed", "failed", "cancelled"],
  waiting: ["running", "completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
  skipped: [],
};
