import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { requireScheduleArguments } from "../schedule-arguments.ts";

export function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const name = requireScheduleArguments(context);
  return withFleet(context, async (fleet) => {
    await fleet.schedules.remove(name);
    if (terminal.isJson) terminal.printJson({ removed: name });
    else terminal.print(`${terminal.colors.green("✓")} removed ${name.agent} ${name.schedule}`);
    return 0;
  });
}
