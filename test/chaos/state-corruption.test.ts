import { expect, test } from "vitest";
import { formatDamage, runDamages } from "./state-corruption.ts";

const seed = 8;

test("refuses a damaged state file untouched, or still ends every job", async () => {
  const { plannedCount, results } = await runDamages(seed);
  expect(results.length).toBe(plannedCount);
  expect(plannedCount).toBeGreaterThan(100);
  const wrong = results.filter(({ violations }) => violations.length > 0);
  expect(wrong.map(({ damage, violations }) => [formatDamage(damage), ...violations])).toEqual([]);
}, 1_800_000);
