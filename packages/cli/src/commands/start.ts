import { exitCodes } from "@herdctl/core";
import type { Call } from "../command.ts";
import { runFleet } from "../run-fleet.ts";
import { startDetached } from "../start-detached.ts";

export async function run(call: Call): Promise<number> {
  if (call.options.detach === true) await startDetached(call);
  else await runFleet(call);
  return exitCodes.success;
}
