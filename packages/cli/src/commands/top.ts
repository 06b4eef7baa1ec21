import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";

export async function run(call: Call): Promise<number> {
  return withFleet(call, async () => 0);
}
