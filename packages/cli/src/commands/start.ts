import { exitCodes } from "@herdctl/core/light";
import type { Call } from "../command.ts";

export async function run(call: Call): Promise<number> {
  if (call.options.detach === true) {
    const { startDetached } = await import("../start-detached.ts");
    await startDetached(call);
  } else {
    const { runFleet } = await import("../run-fleet.ts");
    await runFleet(call);
  }
  return exitCodes.success;
}
