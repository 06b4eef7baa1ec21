import type { Approval, FleetControl, FleetStatus, Job } from "@herdctl/core";
import { harmlessAll } from "../show/harmless.ts";

/** How the fleet stands, fit to be shown. */
export interface Facts {
  status: FleetStatus;
  /** As they came: what is asked must be seen to the last character. */
  approvals: Approval[];
  jobs: Job[];
}

const recentJobs = 20;

export async function factsOf(fleet: FleetControl): Promise<Facts> {
  const [status, approvals, { jobs }] = await Promise.all([
    fleet.status(),
    fleet.approvals(),
    fleet.jobs({ limit: recentJobs }),
  ]);
  return { status: harmlessAll(status), approvals, jobs: harmlessAll(jobs) };
}
