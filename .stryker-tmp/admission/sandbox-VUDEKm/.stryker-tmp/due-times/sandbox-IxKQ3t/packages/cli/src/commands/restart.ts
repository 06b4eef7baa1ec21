import { exitCodes, stateDirOf } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { loadSavedNodeOptions } from "../node-options.ts";
import { restartService } from "../service/restart-service.ts";
import { startDetached } from "../start-detached.ts";
import { stopAndWait } from "../stop-and-wait.ts";

export async function run(context: CommandContext): Promise<number> {
  const file = await withFleet(context, async (fleet) => {
    const { fleet: facts } = await fleet.status();
    // A fleet that runs as a service must be restarted by its service manager.
    if (await restartService(context, facts.pid)) return undefined;
    await stopAndWait(context, fleet, { detach: true });
    return facts.file;
  });
  if (file !== undefined) {
    const savedOptions = loadSavedNodeOptions(stateDirOf(file));
    await startDetached({
      ...context,
      options: { ...savedOptions, ...context.options, config: file },
    });
  }
  return exitCodes.success;
}
