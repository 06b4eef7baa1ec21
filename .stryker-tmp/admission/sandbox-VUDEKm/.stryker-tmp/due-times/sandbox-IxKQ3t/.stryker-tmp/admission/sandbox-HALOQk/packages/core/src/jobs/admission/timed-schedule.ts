import type { ResolvedAgent } from "@herdctl/config";

type Schedule = ResolvedAgent["schedules"][string];

export type TimedSchedule = Extract<Schedule, { type: "interval" | "cron" | "at" }>;

export function isTimed(schedule: Schedule): schedule is TimedSchedule {
  return schedule.type === "interval" || schedule.type === "cron" || schedule.type === "at";
}
