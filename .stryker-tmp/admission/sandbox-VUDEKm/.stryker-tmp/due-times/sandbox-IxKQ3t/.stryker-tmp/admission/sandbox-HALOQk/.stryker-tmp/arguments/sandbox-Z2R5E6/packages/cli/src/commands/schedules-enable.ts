import type { CommandContext } from "../command.ts";
import { setScheduleEnabled } from "../set-schedule-enabled.ts";

export function run(context: CommandContext): Promise<number> {
  return setScheduleEnabled(context, true);
}
