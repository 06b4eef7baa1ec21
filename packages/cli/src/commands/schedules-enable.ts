import type { Call } from "../command.ts";
import { switchSchedule } from "../switch-schedule.ts";

export function run(call: Call): Promise<number> {
  return switchSchedule(call, true);
}
