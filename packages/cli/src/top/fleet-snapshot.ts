import type { Approval, FleetControl, FleetStatus, Job } from "@herdctl/protocol";
import { sanitizeDeep } from "../render/sanitize-text.ts";

/** The displayed state of the fleet. */
export interface FleetSnapshot {
  status: FleetStatus;
  /** Not sanitized: approvals are displayed with every character escaped, not removed. */
  approvals: Approval[];
  jobs: Job[];
}

const maxRecentJobs = 20;

export async function fetchFleetSnapshot(fleet: FleetControl): Promise<FleetSnapshot> {
  const [status, approvals, { jobs }] = await Promise.all([
    fleet.status(),
    fleet.approvals.list(),
    fleet.jobs.list({ limit: maxRecentJobs }),
  ]);
  return { status: sanitizeDeep(status), approvals, jobs: sanitizeDeep(jobs) };
}
