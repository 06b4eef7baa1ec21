import type { Delivery } from "../records/delivery.ts";
import type { HookRun } from "../records/hook-run.ts";

/** Number of refused deliveries since the fleet started. They are only counted, not recorded. */
export interface RefusalCount {
  agent: string | null;
  schedule: string | null;
  reason: string;
  count: number;
}

export interface DeliveryQuery {
  agent?: string;
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface DeliveryPage {
  deliveries: Delivery[];
  next_cursor: string | null;
}

export interface HookQuery {
  /** Hook runs of this job. */
  job?: string;
  status?: HookRun["status"];
  limit?: number;
}
