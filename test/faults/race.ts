import { setTimeout as delay } from "node:timers/promises";
import { lockHolder } from "../../packages/core/src/state/lock.ts";
import { launchFleet, until } from "../support/fleet-program.ts";
import type { Stage } from "../support/stage.ts";
import { inScope } from "./scope.ts";

/** What two fleets that were started at once on one state came to. */
export interface RaceEnd {
  /** How many of them held the state; exactly one is right. */
  held: number;
  /** The other's exit code, and what it said. */
  refused: number | null;
  said: string;
}

export async function raceOnce(on: Stage, file: string, stateDir: string): Promise<RaceEnd> {
  return inScope(async (whenOver) => {
    const fleets = [1, 2].map(() => launchFleet(on, file, whenOver));
    const gone = await until("one of them to give way", async () =>
      fleets.find(({ child }) => child.exitCode !== null),
    );
    const left = fleets.filter((one) => one !== gone);
    const holder = await until("the other to hold it", async () => lockHolder(stateDir));
    // Whoever gave way late would show now.
    await delay(100);
    const held = left.filter(
      ({ child }) => child.exitCode === null && child.pid === holder.pid,
    ).length;
    return { held, refused: gone.child.exitCode, said: gone.said() };
  });
}
