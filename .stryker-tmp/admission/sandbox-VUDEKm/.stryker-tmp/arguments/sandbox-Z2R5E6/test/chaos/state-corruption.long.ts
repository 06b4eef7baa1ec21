import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { recordSection } from "./results-report.ts";
import { SeededRandom } from "./seeded-random.ts";
import {
  type FileDamage,
  listDamages,
  offsets,
  startDamageHarness,
  startOnDamagedState,
} from "./state-corruption.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const maxDamages = Number(process.env.HERDCTL_LONG_DAMAGES ?? 1_000);

test("refuses each damaged state file untouched, or loses no job", {
  retry: 0,
  timeout: 3_600_000,
}, async () => {
  const began = Date.now();
  const parts = await Promise.all(offsets.map(runDamages));
  const ends = parts.flatMap((part) => part.ends);
  const complaints = ends.flatMap(({ damage, violations }) =>
    violations.map((text) => `${formatDamage(damage)}: ${text}`),
  );
  const perFile = new Map<string, number>();
  for (const { damage } of ends)
    perFile.set(damageName(damage), (perFile.get(damageName(damage)) ?? 0) + 1);
  const rows = [...perFile].sort().map(([name, count]) => `| \`${name}\` | ${count} |`);
  const table = ["| file | damages |", "|---|--:|", ...rows];
  const took = Math.round((Date.now() - began) / 1000);
  const planned = parts.reduce((sum, part) => sum + part.planned, 0);
  recordSection("damage", {
    seed,
    seconds: took,
    plannedCount: planned,
    runCount: ends.length,
    complaints,
    table,
  });
  expect(complaints).toEqual([]);
});

interface DamageResult {
  damage: FileDamage;
  violations: string[];
}

/** A case mostly waits, and each position has a separate state, so they run concurrently. */
async function runDamages(at: number): Promise<{ planned: number; ends: DamageResult[] }> {
  const slow = { text: "Done.", delay: { first: "500ms" } };
  const harness = await startDamageHarness(
    await startHarness({ script: { rules: [{ reply: slow }] } }),
  );
  const planned = listDamages(harness).filter((damage) => damage.position === at);
  const chosen = new SeededRandom(seed)
    .shuffled(planned)
    .slice(0, Math.ceil(maxDamages / offsets.length));
  const ends: DamageResult[] = [];
  for (const damage of chosen) {
    const wrong = await startOnDamagedState(harness, damage).catch((error) => [String(error)]);
    ends.push({ damage, violations: wrong });
    process.stdout.write(
      `${formatDamage(damage)}${wrong.map((text) => ` WRONG ${text}`).join()}\n`,
    );
  }
  return { planned: planned.length, ends };
}

function formatDamage(damage: FileDamage): string {
  return `${damageName(damage)} ${damage.kind} at ${damage.position}`;
}

function damageName({ name }: FileDamage): string {
  return name.replace(/job-[^/]*/, "<id>");
}
