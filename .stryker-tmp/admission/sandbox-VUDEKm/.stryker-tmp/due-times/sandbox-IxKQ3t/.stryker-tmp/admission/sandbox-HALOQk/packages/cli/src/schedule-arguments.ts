import { type ScheduleRef, UserError } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";

/** The schedule that the first two arguments name. */
export function requireScheduleArguments(context: CommandContext): ScheduleRef {
  const [agent, schedule] = context.arguments;
  if (agent !== undefined && schedule !== undefined) return { agent, schedule };
  throw new UserError("usage", "the names of the agent and the schedule are missing", {
    hint: "Run `herdctl schedules` to list schedules.",
  });
}
