import { UserError } from "../errors/user-error.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { FleetParts } from "./parts.ts";
import { type ScheduleView, viewSchedules } from "./schedule-view.ts";

/** On or off until it is switched again. What came due before is settled as it stood then. */
export async function switchSchedule(
  { state, context, clock }: FleetParts,
  { agent, schedule }: ScheduleName,
  enabled: boolean,
): Promise<ScheduleView> {
  const look = async () => {
    const views = await viewSchedules(context.fleet(), state, new Date());
    return views.find((one) => one.agent === agent && one.schedule === schedule);
  };
  if (!(await look())) {
    throw new UserError("usage", `\`${agent}\` has no schedule \`${schedule}\``, {
      hint: "Run `herdctl schedules` to see those there are.",
    });
  }
  await state.schedules.switchTo({ agent, schedule }, enabled);
  await clock?.replan();
  context.hub.emit({ type: "schedule:switched", agent, schedule, enabled });
  const view = await look();
  if (!view) throw new Error(`${agent}/${schedule} is gone`);
  return view;
}
