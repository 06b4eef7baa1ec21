import type { Call } from "../command.ts";
import { scheduleNamed } from "../schedule-named.ts";
import { run as trigger } from "./trigger.ts";

/** A trigger like any other, which says what the schedule would. No due time is used up by it. */
export async function run(call: Call): Promise<number> {
  const { agent, schedule } = scheduleNamed(call);
  return trigger({ ...call, arguments: [agent], options: { ...call.options, schedule } });
}
