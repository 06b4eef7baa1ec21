import type { TriggerRequest } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { findFleet } from "../fleet-access.ts";
import { storeOf } from "../store-of.ts";
import { triggerFleet } from "../trigger-fleet.ts";
import { requestOf } from "./trigger-request.ts";

export async function run(call: Call): Promise<number> {
  const request = await requestOf(call);
  const fleet = await findFleet(call);
  if (!fleet) return alone(call, request);
  try {
    return await triggerFleet(call, fleet, request);
  } finally {
    fleet.close();
  }
}

/** The runner is started first: it takes about as long as all that comes before it is needed. */
async function alone(call: Call, request: TriggerRequest): Promise<number> {
  if ((await storeOf(call)) !== undefined) throw noNodeHere();
  const { SparePool } = await import("@herdctl/core/spare");
  const spares = new SparePool();
  try {
    const { triggerAlone } = await import("../trigger-alone.ts");
    return await triggerAlone(call, request, spares);
  } finally {
    await spares.stop();
  }
}

/** The queue is everybody's: a job that was put there must not wait for a node that may never come. */
function noNodeHere(): UserError {
  return new UserError(
    "fleet_unreachable",
    "this fleet is run by machines that share a store, and no node of it runs here",
    { hint: "Start one with `herdctl start --detach`, or trigger on a machine where one runs." },
  );
}
