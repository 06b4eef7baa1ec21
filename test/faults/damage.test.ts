import { expect, test } from "vitest";
import { Random } from "../storm/random.ts";
import { stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";
import { damagedStage, everyDamage, startOnDamage } from "./damage.ts";

const seed = 8;

test("a damaged file of the state is refused untouched, or costs no job its end", async () => {
  const slow = { text: "Done.", delay: { first: "500ms" } };
  const on = await damagedStage(await stage({ script: { rules: [{ reply: slow }] } }));
  const cases = new Random(seed).shuffled(everyDamage(on));
  for (const damage of sliceOf(cases, 3)) {
    expect([damage, await startOnDamage(on, damage)]).toEqual([damage, []]);
  }
}, 3_600_000);
