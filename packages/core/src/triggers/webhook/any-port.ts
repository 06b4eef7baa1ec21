import type { LoadedFleet } from "../../config/load.ts";
import { isPortNamed } from "../../config/named-port.ts";
import { hasWebhooks } from "./webhook-schedule.ts";

/** Nobody said which port, and nobody outside has to know: another one will do as well. */
export function isAnyPortGood({ fleet, trees }: Pick<LoadedFleet, "fleet" | "trees">): boolean {
  return !isPortNamed(trees.fleet) && !hasWebhooks(fleet.agents) && !fleet.server.mcp;
}
