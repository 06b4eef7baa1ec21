import { readFileSync } from "node:fs";
import type { Call } from "./command.ts";
import { fleetFileOf } from "./fleet-access.ts";

/** The address of the store that this fleet shares; undefined when its state is its own. */
export async function storeOf(
  call: Pick<Call, "options" | "cwd" | "env">,
): Promise<string | undefined> {
  const file = fleetFileOf(call);
  // Most fleets have none, and reading all of the configuration takes its time.
  if (!/^["']?store["']?\s*:/m.test(textOf(file))) return undefined;
  const { loadFleet } = await import("@herdctl/core");
  return loadFleet(file, call.env).fleet.store;
}

/** A file that cannot be read is somebody else's to tell of. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
