import { exitCodes } from "@herdctl/core/light";
import type { Call } from "../command.ts";

export async function run(call: Call): Promise<number> {
  if (call.options.detach === true) {
    const { startDetached } = await import("../start-detached.ts");
    await startDetached(call);
  } else {
    const { runFleet } = await import("../run-fleet.ts");
    await runFleet(call);
    // Whatever a library still holds open: who has stopped is gone.
    process.exit(exitCodes.success);
  }
  return exitCodes.success;
}
