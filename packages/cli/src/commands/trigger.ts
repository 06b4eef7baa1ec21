import { type TriggerRequest, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { findFleet } from "../find-fleet.ts";
import { readStoreUrl } from "../read-store-url.ts";
import { triggerRunningFleet } from "../trigger-running-fleet.ts";
import { parseTriggerRequest } from "./parse-trigger-request.ts";

export async function run(context: CommandContext): Promise<number> {
  const request = await parseTriggerRequest(context);
  const fleet = await findFleet(context);
  if (!fleet) return triggerWithoutFleet(context, request);
  try {
    return await triggerRunningFleet(context, fleet, request);
  } finally {
    fleet.close();
  }
}

/** Starts the runner process first: it starts up while the fleet is loaded. */
async function triggerWithoutFleet(
  context: CommandContext,
  request: TriggerRequest,
): Promise<number> {
  if ((await readStoreUrl(context)) !== undefined) throw noLocalNodeError();
  const { RunnerPool } = await import("@herdctl/core/internal");
  const runnerPool = new RunnerPool();
  try {
    const { triggerStandalone } = await import("../trigger-standalone.ts");
    return await triggerStandalone(context, request, runnerPool);
  } finally {
    await runnerPool.stop();
  }
}

/** Without a local node, the job would wait in the shared queue, possibly forever. */
function noLocalNodeError(): UserError {
  return new UserError(
    "fleet_unreachable",
    "this fleet has a shared store, and no node of it is running on this machine",
    {
      hint: "Start a node with `herdctl start --detach`, or run the command on a machine with a node.",
    },
  );
}
