import type { ScheduleName } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import type { Call } from "./command.ts";

/** Which schedule of which agent was typed. */
export function scheduleNamed(call: Call): ScheduleName {
  const [agent, schedule] = call.arguments;
  if (agent !== undefined && schedule !== undefined) return { agent, schedule };
  throw new UserError("usage", "which schedule of which agent?", {
    hint: "Run `herdctl schedules` to see those there are.",
  });
}
