import type { Day } from "../../state/spending.ts";
import { machineTimezone } from "./plan.ts";
import { zoneOf } from "./zone.ts";

const oneDay = 86_400_000;

/** The day that it is in a time zone; the machine's when none is given. */
export function dayOf(now: Date, timezone: string = machineTimezone()): Day {
  const zone = zoneOf(timezone);
  const wall = zone.wallOf(now.getTime());
  const midnight = Math.floor(wall / oneDay) * oneDay;
  return {
    name: new Date(midnight).toISOString().slice(0, 10),
    start: new Date(zone.firstShowing(midnight)),
  };
}
