import { exitCodes, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { fetchFleetSnapshot } from "../top/fleet-snapshot.ts";
import { TopApp } from "../top/top-app.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  return withFleet(context, async (fleet) => {
    if (terminal.isJson) {
      const { status, approvals, jobs } = await fetchFleetSnapshot(fleet);
      terminal.printJson({ ...status, approvals, jobs });
      return exitCodes.success;
    }
    if (!terminal.isInteractive || !terminal.canRedraw) {
      throw new UserError("usage", "`herdctl top` requires a terminal", {
        hint: "Use `herdctl status`, or `herdctl top --json` in a script.",
      });
    }
    await new TopApp(context, fleet, await fetchFleetSnapshot(fleet)).run();
    return exitCodes.success;
  });
}
