import { z } from "zod";
import type { ResolvedAgent } from "../../config/resolve.ts";

type Schedule = ResolvedAgent["schedules"][string];
type TimedSchedule = Extract<Schedule, { type: "interval" | "cron" | "at" }>;

/** What decides when a schedule comes due. It is kept, for a change of it is a new plan. */
export const planSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("cron"), cron: z.string(), timezone: z.string() }),
  z.object({ type: z.literal("interval"), every: z.number(), from: z.enum(["end", "start"]) }),
  z.object({ type: z.literal("at"), at: z.string(), timezone: z.string() }),
]);
export type Plan = z.infer<typeof planSchema>;

/** What becomes of due times that could not be run in time. */
export interface CatchUp {
  policy: TimedSchedule["catch_up"];
  window: number;
}

export function isTimed(schedule: Schedule): schedule is TimedSchedule {
  return schedule.type === "interval" || schedule.type === "cron" || schedule.type === "at";
}

export function planOf(schedule: TimedSchedule, fleetTimezone: string | undefined): Plan {
  if (schedule.type === "interval") {
    return { type: "interval", every: schedule.every, from: schedule.from };
  }
  const timezone = schedule.timezone ?? fleetTimezone ?? machineTimezone();
  return schedule.type === "cron"
    ? { type: "cron", cron: schedule.cron, timezone }
    : { type: "at", at: schedule.at, timezone };
}

export function isSamePlan(a: Plan, b: Plan): boolean {
  return JSON.stringify(planSchema.parse(a)) === JSON.stringify(planSchema.parse(b));
}

/** To ask takes long, and Node itself looks again only when the variable changes. */
export function machineTimezone(): string {
  const { TZ } = process.env;
  if (machine?.TZ !== TZ) machine = undefined;
  machine ??= { TZ, name: new Intl.DateTimeFormat().resolvedOptions().timeZone };
  return machine.name;
}

let machine: { TZ: string | undefined; name: string } | undefined;
