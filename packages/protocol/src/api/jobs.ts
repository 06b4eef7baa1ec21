import type { Job } from "../records/job.ts";
import type { JobStatus } from "../records/job-status.ts";
import type { OutcomeCode } from "../records/outcome.ts";

export interface JobQuery {
  agent?: string;
  status?: JobStatus;
  outcome?: OutcomeCode;
  /** `false` leaves out jobs that were recorded but not run, such as for `overlap`. */
  skipped?: boolean;
  /** Filters the jobs that match the rest of the query. */
  schedule?: string;
  /** Jobs that ran in this session. */
  session?: string;
  since?: Date;
  until?: Date;
  /** 50 if omitted, at most 1,000. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface JobPage {
  jobs: Job[];
  /** The cursor of the next page; null on the last page. */
  next_cursor: string | null;
}
