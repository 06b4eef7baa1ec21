import type { CommandContext } from "./command.ts";
import { withFleet } from "./find-fleet.ts";
import { formatTime } from "./render/wait-text.ts";
import { requireScheduleArguments } from "./schedule-arguments.ts";

/** Requires a running fleet, which writes the change and applies it. */
export function setScheduleEnabled(context: CommandContext, isEnabled: boolean): Promise<number> {
  const { terminal } = context;
  const name = requireScheduleArguments(context);
  return withFleet(context, async (fleet) => {
    const view = await (isEnabled ? fleet.schedules.enable(name) : fleet.schedules.disable(name));
    if (terminal.isJson) {
      terminal.printJson(view);
      return 0;
    }
    const { green, yellow, bold, dim } = terminal.colors;
    const mark = isEnabled ? green("▶") : yellow("‖");
    terminal.print(
      `${mark} ${bold(`${name.agent} ${name.schedule}`)} is ${isEnabled ? "enabled" : "disabled"}`,
    );
    const [next] = view.next;
    if (next !== undefined) terminal.print(dim(`  next run ${formatTime(next)}`));
    return 0;
  });
}
