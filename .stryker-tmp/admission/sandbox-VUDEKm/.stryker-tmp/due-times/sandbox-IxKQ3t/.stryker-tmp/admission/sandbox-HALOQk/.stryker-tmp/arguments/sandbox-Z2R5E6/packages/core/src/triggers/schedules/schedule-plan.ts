import { z } from "zod";
import type { TimedSchedule } from "../../jobs/admission/timed-schedule.ts";
import { machineTimezone } from "../../lib/time-zone.ts";

/**
 * The settings that decide when a schedule comes due. They are recorded, because changed settings
 * are a new plan.
 */
export const schedulePlanSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("cron"), cron: z.string(), timezone: z.string() }),
  z.object({ type: z.literal("interval"), every: z.number(), from: z.enum(["end", "start"]) }),
  z.object({ type: z.literal("at"), at: z.string(), timezone: z.string() }),
]);
export type SchedulePlan = z.infer<typeof schedulePlanSchema>;

/** How due times are handled that could not be run in time. */
export interface CatchUp {
  policy: TimedSchedule["catch_up"];
  windowMs: number;
}

export function schedulePlanOf(
  schedule: TimedSchedule,
  fleetTimezone: string | undefined,
): SchedulePlan {
  if (schedule.type === "interval") {
    return { type: "interval", every: schedule.every, from: schedule.measured_from };
  }
  const timezone = schedule.timezone ?? fleetTimezone ?? machineTimezone();
  return schedule.type === "cron"
    ? { type: "cron", cron: schedule.cron, timezone }
    : { type: "at", at: schedule.at, timezone };
}

export function isSamePlan(a: SchedulePlan, b: SchedulePlan): boolean {
  return (
    JSON.stringify(schedulePlanSchema.parse(a)) === JSON.stringify(schedulePlanSchema.parse(b))
  );
}
