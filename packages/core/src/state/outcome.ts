import { z } from "zod";

/** Every way a job can end, by the status it ends in. A waiting job shows the one it waits on. */
export const outcomeCodes = {
  completed: ["success", "finished_with_denials"],
  failed: [
    "report_missing",
    "max_turns",
    "budget_exceeded",
    "timeout",
    "session_missing",
    "config_error",
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

const everyCode = [
  ...outcomeCodes.completed,
  ...outcomeCodes.failed,
  ...outcomeCodes.cancelled,
  ...outcomeCodes.skipped,
] as const;

export const outcomeCodeSchema = z.enum(everyCode);
export type OutcomeCode = z.infer<typeof outcomeCodeSchema>;

export const outcomeSchema = z.object({
  code: outcomeCodeSchema,
  message: z.string(),
  hint: z.string(),
  /** When a limit that is waited for ends. */
  resets_at: z.iso.datetime().optional(),
});
export type Outcome = z.infer<typeof outcomeSchema>;
