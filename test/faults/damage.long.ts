import { expect, test } from "vitest";
import { Random } from "../storm/random.ts";
import { stage } from "../support/stage.ts";
import { type Damage, damagedStage, everyDamage, offsets, startOnDamage } from "./damage.ts";
import { recordSection } from "./proof.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const most = Number(process.env.HERDCTL_LONG_DAMAGES ?? 1_000);

test("every file of the state is damaged at several places: refused untouched, or no job is lost", {
  retry: 0,
  timeout: 3_600_000,
}, async () => {
  const began = Date.now();
  const parts = await Promise.all(offsets.map(damageAll));
  const ends = parts.flatMap((part) => part.ends);
  const complaints = ends.flatMap(({ damage, wrong }) =>
    wrong.map((text) => `${lineOf(damage)}: ${text}`),
  );
  const perFile = new Map<string, number>();
  for (const { damage } of ends)
    perFile.set(nameOf(damage), (perFile.get(nameOf(damage)) ?? 0) + 1);
  const rows = [...perFile].sort().map(([name, count]) => `| \`${name}\` | ${count} |`);
  const table = ["| file | damages |", "|---|--:|", ...rows];
  const took = Math.round((Date.now() - began) / 1000);
  const planned = parts.reduce((sum, part) => sum + part.planned, 0);
  recordSection("damage", { seed, took, planned, run: ends.length, complaints, table });
  expect(complaints).toEqual([]);
});

interface DamageEnd {
  damage: Damage;
  wrong: string[];
}

/** Most of a case is waiting: each place has a state of its own, so that they go on at once. */
async function damageAll(at: number): Promise<{ planned: number; ends: DamageEnd[] }> {
  const slow = { text: "Done.", delay: { first: "500ms" } };
  const on = await damagedStage(await stage({ script: { rules: [{ reply: slow }] } }));
  const planned = everyDamage(on).filter((damage) => damage.at === at);
  const chosen = new Random(seed).shuffled(planned).slice(0, Math.ceil(most / offsets.length));
  const ends: DamageEnd[] = [];
  for (const damage of chosen) {
    const wrong = await startOnDamage(on, damage).catch((error) => [String(error)]);
    ends.push({ damage, wrong });
    process.stdout.write(`${lineOf(damage)}${wrong.map((text) => ` WRONG ${text}`).join()}\n`);
  }
  return { planned: planned.length, ends };
}

function lineOf(damage: Damage): string {
  return `${nameOf(damage)} ${damage.way} at ${damage.at}`;
}

function nameOf({ name }: Damage): string {
  return name.replace(/job-[^/]*/, "<id>");
}
