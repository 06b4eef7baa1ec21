import { UserError } from "../errors/user-error.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { FleetParts } from "./parts.ts";

/** Takes back what an agent has planned; what the configuration says is for the operator to change. */
export async function removePlan(
  { state, plans, clock }: FleetParts,
  name: ScheduleName,
): Promise<void> {
  if (!(await state.schedules.takeBack(name))) {
    const message = `nobody has planned \`${name.schedule}\` of \`${name.agent}\``;
    throw new UserError("usage", message, {
      hint: "What stands in the configuration is removed there, or switched off with `herdctl schedules disable`.",
    });
  }
  await plans.changed();
  await clock?.replan();
}
