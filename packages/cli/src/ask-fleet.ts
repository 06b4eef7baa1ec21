import type { FleetControl, StateManager } from "@herdctl/core";
import type { Call } from "./command.ts";
import { findFleet } from "./fleet-access.ts";
import { readState } from "./read-state.ts";

/** Asks the fleet that runs here; where none does, the state itself tells. */
export async function askFleet<T>(
  call: Call,
  ask: (fleet: FleetControl) => Promise<T>,
  read: (state: StateManager) => Promise<T>,
): Promise<T> {
  const fleet = await findFleet(call);
  if (!fleet) return readState(call, read);
  try {
    return await ask(fleet);
  } finally {
    fleet.close();
  }
}
