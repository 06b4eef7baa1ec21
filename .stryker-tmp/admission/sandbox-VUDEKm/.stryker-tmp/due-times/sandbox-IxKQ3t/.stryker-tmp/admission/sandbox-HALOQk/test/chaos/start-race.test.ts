import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { sampleCount } from "../support/test-subset.ts";
import { runStartRace } from "./start-race.ts";

test("gives the state to exactly one of two fleets that start concurrently", async () => {
  const harness = await startHarness();
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli }");
  for (let time = 0; time < sampleCount(12); time += 1) {
    const end = await runStartRace(harness, file, join(dirname(file), ".herdctl"));
    expect(end).toMatchObject({
      holderCount: 1,
      refusedExitCode: 3,
      refusedOutput: expect.stringContaining("already running"),
    });
  }
}, 120_000);
