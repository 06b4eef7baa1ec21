import { setTimeout as delay } from "node:timers/promises";
import { readLockHolder } from "../../packages/core/src/store/sqlite/state-lock.ts";
import { launchFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import type { TestHarness } from "../support/harness.ts";
import { withCleanup } from "./with-cleanup.ts";

/** The result of two fleets that were started concurrently on one state. */
export interface StartRaceResult {
  /** How many of them held the state; exactly one is correct. */
  holderCount: number;
  /** The exit code and the output of the other one. */
  refusedExitCode: number | null;
  refusedOutput: string;
}

export async function runStartRace(
  harness: TestHarness,
  file: string,
  stateDir: string,
): Promise<StartRaceResult> {
  return withCleanup(async (onCleanup) => {
    const fleets = [1, 2].map(() => launchFleetProcess(harness, file, onCleanup));
    const gone = await waitUntil("one of them to exit", async () =>
      fleets.find(({ child }) => child.exitCode !== null),
    );
    const left = fleets.filter((one) => one !== gone);
    const holder = await waitUntil("the other to hold it", async () => readLockHolder(stateDir));
    // A fleet that gives up late would have exited by now.
    await delay(100);
    const held = left.filter(
      ({ child }) => child.exitCode === null && child.pid === holder.pid,
    ).length;
    return {
      holderCount: held,
      refusedExitCode: gone.child.exitCode,
      refusedOutput: gone.output(),
    };
  });
}
