import type { ScheduleView } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { resolveFleetFile } from "../find-fleet.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { scheduleTableLines } from "../render/schedule-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [agent] = context.arguments;
  const all = await listScheduleViews(context);
  const schedules = agent === undefined ? all : all.filter((one) => one.agent === agent);
  if (terminal.isJson) {
    terminal.printJson({ schedules });
    return 0;
  }
  if (schedules.length === 0) terminal.print("No schedules.");
  else
    for (const line of scheduleTableLines(schedules, new Date(), terminalStyleOf(terminal)))
      terminal.print(line);
  return 0;
}

function listScheduleViews(context: CommandContext): Promise<ScheduleView[]> {
  return queryFleetOrState(
    context,
    (fleet) => fleet.schedules.list(),
    async (state) => {
      const { loadFleet, viewSchedules } = await import("@herdctl/core/internal");
      return viewSchedules(
        loadFleet(resolveFleetFile(context), context.env).fleet,
        state,
        new Date(),
      );
    },
  );
}
