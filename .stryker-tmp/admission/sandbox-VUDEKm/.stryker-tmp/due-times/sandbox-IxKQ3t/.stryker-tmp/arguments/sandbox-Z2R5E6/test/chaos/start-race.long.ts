import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { recordSection } from "./results-report.ts";
import { runStartRace } from "./start-race.ts";

const raceCount = Number(process.env.HERDCTL_LONG_RACES ?? 100);

test(`gives the state to exactly one of two fleets that start concurrently, ${raceCount} times`, async () => {
  const harness = await startHarness();
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli }");
  const complaints: string[] = [];
  const began = Date.now();
  for (let time = 1; time <= raceCount; time += 1) {
    const { holderCount, refusedExitCode, refusedOutput } = await runStartRace(
      harness,
      file,
      join(dirname(file), ".herdctl"),
    );
    const isRight =
      holderCount === 1 && refusedExitCode === 3 && refusedOutput.includes("already running");
    if (!isRight)
      complaints.push(
        `${time}: held ${holderCount} times, refused with ${refusedExitCode}: ${refusedOutput}`,
      );
  }
  const took = Math.round((Date.now() - began) / 1000);
  const table = [
    `${raceCount} starts of two fleets at once; ${complaints.length} times it was not one.`,
  ];
  recordSection("race", {
    seed: 0,
    seconds: took,
    plannedCount: raceCount,
    runCount: raceCount,
    complaints,
    table,
  });
  expect(complaints).toEqual([]);
}, 3_600_000);
