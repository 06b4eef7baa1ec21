import type { Call } from "../command.ts";
import { findFleet } from "../fleet-access.ts";
import { requestOf } from "./trigger-request.ts";

export async function run(call: Call): Promise<number> {
  const request = await requestOf(call);
  const [fleet, { triggerFleet }] = await Promise.all([
    findFleet(call),
    import("../trigger-fleet.ts"),
  ]);
  if (!fleet) {
    const { triggerAlone } = await import("../trigger-alone.ts");
    return triggerAlone(call, request);
  }
  try {
    return await triggerFleet(call, fleet, request);
  } finally {
    fleet.close();
  }
}
