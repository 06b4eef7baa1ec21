import { exitCodes, UserError } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { factsOf } from "../top/news.ts";
import { Top } from "../top/top.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  return withFleet(call, async (fleet) => {
    if (terminal.json) {
      const { status, approvals, jobs } = await factsOf(fleet);
      terminal.printJson({ ...status, approvals, jobs });
      return exitCodes.success;
    }
    if (!terminal.interactive || !terminal.live) {
      throw new UserError("usage", "`herdctl top` needs a terminal", {
        hint: "Use `herdctl status`, or `herdctl top --json` for a program.",
      });
    }
    await new Top(call, fleet, await factsOf(fleet)).run();
    return exitCodes.success;
  });
}
