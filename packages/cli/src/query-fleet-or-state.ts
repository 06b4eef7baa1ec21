import type { StateManager } from "@herdctl/core";
import type { FleetControl } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";
import { findFleet } from "./find-fleet.ts";
import { readState } from "./read-state.ts";

/** Queries the running fleet; if no fleet is running, reads the state directly. */
export async function queryFleetOrState<T>(
  context: CommandContext,
  queryFleet: (fleet: FleetControl) => Promise<T>,
  queryState: (state: StateManager) => Promise<T>,
): Promise<T> {
  const fleet = await findFleet(context);
  if (!fleet) return readState(context, queryState);
  try {
    return await queryFleet(fleet);
  } finally {
    fleet.close();
  }
}
