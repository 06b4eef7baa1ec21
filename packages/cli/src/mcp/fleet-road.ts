import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "@herdctl/core/light";
import type { FleetRoad } from "@herdctl/server/mcp";
import type { Call } from "../command.ts";
import { findFleet, withFleet } from "../fleet-access.ts";
import { stateReading } from "./state-reading.ts";

const patience = 10_000;
const lookEvery = 200;

/** To the fleet that runs here; to its state alone where none does, for what can be read. */
export function fleetRoad(call: Call): FleetRoad {
  return {
    async read(question) {
      const fleet = await findFleet(call);
      if (!fleet) return question(stateReading(call));
      try {
        return await question(fleet);
      } catch (error) {
        if (!isGone(error)) throw error;
        return await question(stateReading(call));
      } finally {
        fleet.close();
      }
    },
    async act(question) {
      const first = await withFleet(call, (fleet) => question(fleet).then(done, orGone));
      if ("answer" in first) return first.answer;
      const deadline = Date.now() + patience;
      for (;;) {
        await delay(lookEvery);
        try {
          return await withFleet(call, question);
        } catch (error) {
          if (!isGone(error) || Date.now() > deadline) throw error;
        }
      }
    },
  };
}

function done<T>(answer: T): { answer: T } {
  return { answer };
}

/** One that goes away while it is asked may be about to be restarted. */
function orGone(error: unknown): { gone: true } {
  if (isGone(error)) return { gone: true };
  throw error;
}

function isGone(error: unknown): boolean {
  return error instanceof UserError && error.code === "fleet_unreachable";
}
