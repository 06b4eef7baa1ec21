import { expect, test } from "vitest";
import { recordSection } from "./results-report.ts";
import { damageName, formatDamage, runDamages } from "./state-corruption.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const maxDamages = Number(process.env.HERDCTL_LONG_DAMAGES ?? 1_000);

test("refuses each damaged state file untouched, or loses no job", {
  timeout: 3_600_000,
}, async () => {
  const began = Date.now();
  const { plannedCount, results } = await runDamages(seed, maxDamages);
  const complaints = results.flatMap(({ damage, violations }) =>
    violations.map((text) => `${formatDamage(damage)}: ${text}`),
  );
  const perFile = new Map<string, number>();
  for (const { damage } of results)
    perFile.set(damageName(damage), (perFile.get(damageName(damage)) ?? 0) + 1);
  const rows = [...perFile].sort().map(([name, count]) => `| \`${name}\` | ${count} |`);
  const table = ["| file | damages |", "|---|--:|", ...rows];
  const took = Math.round((Date.now() - began) / 1000);
  recordSection("damage", {
    seed,
    seconds: took,
    plannedCount,
    runCount: results.length,
    complaints,
    table,
  });
  expect(complaints).toEqual([]);
});
