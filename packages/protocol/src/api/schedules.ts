import type { DueTimeRecord } from "../records/due-time.ts";

export interface ScheduleView {
  agent: string;
  schedule: string;
  type: "interval" | "cron" | "at" | "webhook";
  /** A cron expression such as `0 9 * * 1-5`, an interval, a time, or the path of a webhook. */
  when: string;
  timezone: string | null;
  enabled: boolean;
  /** `enabled` was set by hand and overrides the configuration. */
  overridden: boolean;
  overlap: string;
  /** Null for a webhook, which cannot be caught up on. */
  catch_up: string | null;
  gate: boolean;
  /** At most five due times; one for an interval that starts at the end of a run. */
  next: string[];
  last: DueTimeRecord | null;
  /** The job that created the schedule; null for a configured one. */
  scheduled_by: string | null;
  /** The prompt of a run that an agent scheduled. */
  prompt: string | null;
  /** An agent has changed the interval. */
  interval_changed: boolean;
}

export interface DueTimeQuery {
  agent?: string;
  schedule?: string;
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface DueTimePage {
  due_times: DueTimeRecord[];
  next_cursor: string | null;
}
