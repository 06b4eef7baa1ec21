import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { scheduleNamed } from "../schedule-named.ts";

export function run(call: Call): Promise<number> {
  const { terminal } = call;
  const name = scheduleNamed(call);
  return withFleet(call, async (fleet) => {
    await fleet.removeSchedule(name);
    if (terminal.json) terminal.printJson({ removed: name });
    else terminal.print(`${name.agent} ${name.schedule} is taken back`);
    return 0;
  });
}
