import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fleetFile } from "../support/fleet-process.ts";
import { stage } from "../support/stage.ts";
import { recordSection } from "./proof.ts";
import { raceOnce } from "./race.ts";

const times = Number(process.env.HERDCTL_LONG_RACES ?? 100);

test(`two fleets are started ${times} times at once on one state: each time exactly one holds it`, async () => {
  const on = await stage();
  const file = fleetFile(on, "  - { name: one, runtime: cli }");
  const complaints: string[] = [];
  const began = Date.now();
  for (let time = 1; time <= times; time += 1) {
    const { held, refused, said } = await raceOnce(on, file, join(dirname(file), ".herdctl"));
    const isRight = held === 1 && refused === 3 && said.includes("already running");
    if (!isRight) complaints.push(`${time}: held ${held} times, refused with ${refused}: ${said}`);
  }
  const took = Math.round((Date.now() - began) / 1000);
  const table = [
    `${times} starts of two fleets at once; ${complaints.length} times it was not one.`,
  ];
  recordSection("race", { seed: 0, took, planned: times, run: times, complaints, table });
  expect(complaints).toEqual([]);
}, 3_600_000);
