import type { ScheduleView } from "@herdctl/core";
import { askFleet } from "../ask-fleet.ts";
import type { Call } from "../command.ts";
import { fleetFileOf } from "../fleet-access.ts";
import { lookOf } from "../show/look.ts";
import { scheduleTable } from "../show/schedule-table.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const [agent] = call.arguments;
  const all = await viewsOf(call);
  const schedules = agent === undefined ? all : all.filter((one) => one.agent === agent);
  if (terminal.json) {
    terminal.printJson({ schedules });
    return 0;
  }
  if (schedules.length === 0) terminal.print("There are no schedules here.");
  else
    for (const line of scheduleTable(schedules, new Date(), lookOf(terminal))) terminal.print(line);
  return 0;
}

function viewsOf(call: Call): Promise<ScheduleView[]> {
  return askFleet(
    call,
    (fleet) => fleet.schedules(),
    async (state) => {
      const { loadFleet, viewSchedules } = await import("@herdctl/core");
      return viewSchedules(loadFleet(fleetFileOf(call), call.env).fleet, state, new Date());
    },
  );
}
