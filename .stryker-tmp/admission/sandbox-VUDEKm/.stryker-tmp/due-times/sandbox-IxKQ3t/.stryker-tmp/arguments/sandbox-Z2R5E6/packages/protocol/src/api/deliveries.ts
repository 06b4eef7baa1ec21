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
  limit: number;
  cursor?: number;
}

export interface DeliveryPage {
  deliveries: Delivery[];
  next: number | null;
}

export interface HookQuery {
  jobId?: string;
  status?: HookRun["status"];
  limit: number;
}
