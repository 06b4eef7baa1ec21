import { exitCodes, stateDirOf } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { rememberedOptions } from "../node-options.ts";
import { restartService } from "../service/restart-service.ts";
import { startDetached } from "../start-detached.ts";
import { untilStopped } from "../until-stopped.ts";

export async function run(call: Call): Promise<number> {
  const file = await withFleet(call, async (fleet) => {
    const { fleet: facts } = await fleet.status();
    // Started by hand it would run beside its service, which would take it for stopped.
    if (await restartService(call, facts.pid)) return undefined;
    await untilStopped(call, fleet, { detach: true });
    return facts.file;
  });
  if (file !== undefined) {
    const remembered = rememberedOptions(stateDirOf(file));
    await startDetached({ ...call, options: { ...remembered, ...call.options, config: file } });
  }
  return exitCodes.success;
}
