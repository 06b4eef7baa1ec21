import { exitCodes } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { sanitizeText } from "../render/sanitize-text.ts";
import { drainTimeoutMs, stopAndWait } from "../stop-and-wait.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const drainMs = options.now === true ? 0 : drainTimeoutMs;
  return withFleet(context, async (fleet) => {
    const { fleet: facts } = await fleet.status();
    await stopAndWait(context, fleet, { drainMs });
    if (terminal.isJson) terminal.printJson({ stopped: true, pid: facts.pid });
    else terminal.print(`${terminal.colors.green("■")} ${sanitizeText(facts.name)} has stopped`);
    return exitCodes.success;
  });
}
