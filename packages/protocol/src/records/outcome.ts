import { z } from "zod";

/** All outcome codes by final status. A waiting job has the outcome that made it wait. */
export const outcomeCodes = {
  completed: ["success", "finished_with_denials"],
  failed: [
    "report_missing",
    "max_turns",
    "budget_exceeded",
    "timeout",
    "session_missing",
    "config_error",
    "mcp_failed",
    "workspace_missing",
    "runtime_missing",
    "image_missing",
    "stalled",
    "start_timeout",
    "overloaded",
    "network",
    "interrupted",
    "runtime_crashed",
    "oom_killed",
    "docker_denied",
    "docker_unavailable",
    "disk_full",
    "session_busy",
    "rate_limited",
    "usage_limit",
    "auth_failed",
    "billing",
  ],
  cancelled: ["cancelled"],
  skipped: ["overlap", "gate_closed", "budget_exceeded", "not_allowed", "chain_limit"],
} as const;

const allOutcomeCodes = [
  ...outcomeCodes.completed,
  ...outcomeCodes.failed,
  ...outcomeCodes.cancelled,
  ...outcomeCodes.skipped,
] as const;

export const outcomeCodeSchema = z.enum(allOutcomeCodes);
export type OutcomeCode = z.infer<typeof outcomeCodeSchema>;

export const outcomeSchema = z.object({
  code: outcomeCodeSchema,
  message: z.string(),
  hint: z.string(),
  /** When the limit resets. */
  resets_at: z.iso.datetime().optional(),
});
export type Outcome = z.infer<typeof outcomeSchema>;
