import { exitCodes } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { harmless } from "../show/harmless.ts";
import { drainTime, untilStopped } from "../until-stopped.ts";

export async function run(call: Call): Promise<number> {
  const { options, terminal } = call;
  const drainMs = options.now === true ? 0 : drainTime;
  return withFleet(call, async (fleet) => {
    const { fleet: facts } = await fleet.status();
    await untilStopped(call, fleet, { drainMs });
    if (terminal.json) terminal.printJson({ stopped: true, pid: facts.pid });
    else terminal.print(`${terminal.colors.green("■")} ${harmless(facts.name)} has stopped`);
    return exitCodes.success;
  });
}
