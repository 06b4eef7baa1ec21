import { exitCodes } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { startDetached } from "../start-detached.ts";
import { untilStopped } from "../until-stopped.ts";

export async function run(call: Call): Promise<number> {
  const file = await withFleet(call, async (fleet) => {
    const { fleet: facts } = await fleet.status();
    await untilStopped(call, fleet, { detach: true });
    return facts.file;
  });
  await startDetached({ ...call, options: { ...call.options, config: file } });
  return exitCodes.success;
}
