import type { CommandContext } from "../command.ts";
import { requireScheduleArguments } from "../schedule-arguments.ts";
import { run as trigger } from "./trigger.ts";

/** Triggers the agent with the schedule's prompt. Its due times are not affected. */
export async function run(context: CommandContext): Promise<number> {
  const { agent, schedule } = requireScheduleArguments(context);
  return trigger({ ...context, arguments: [agent], options: { ...context.options, schedule } });
}
