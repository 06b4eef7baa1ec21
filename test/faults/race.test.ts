import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fleetFile } from "../support/fleet-process.ts";
import { stage } from "../support/stage.ts";
import { samples } from "../support/width.ts";
import { raceOnce } from "./race.ts";

test("of two fleets that start at once on one state exactly one holds it, each time", async () => {
  const on = await stage();
  const file = fleetFile(on, "  - { name: one, runtime: cli }");
  for (let time = 0; time < samples(12); time += 1) {
    const end = await raceOnce(on, file, join(dirname(file), ".herdctl"));
    expect(end).toMatchObject({
      held: 1,
      refused: 3,
      said: expect.stringContaining("already running"),
    });
  }
}, 120_000);
