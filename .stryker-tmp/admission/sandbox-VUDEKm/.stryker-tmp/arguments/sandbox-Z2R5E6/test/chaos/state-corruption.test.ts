import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { testSubset } from "../support/test-subset.ts";
import { SeededRandom } from "./seeded-random.ts";
import { listDamages, startDamageHarness, startOnDamagedState } from "./state-corruption.ts";

const seed = 8;

test("refuses a damaged state file untouched, or still ends every job", async () => {
  const slow = { text: "Done.", delay: { first: "500ms" } };
  const harness = await startDamageHarness(
    await startHarness({ script: { rules: [{ reply: slow }] } }),
  );
  const cases = new SeededRandom(seed).shuffled(listDamages(harness));
  for (const damage of testSubset(cases, 3)) {
    expect([damage, await startOnDamagedState(harness, damage)]).toEqual([damage, []]);
  }
}, 3_600_000);
