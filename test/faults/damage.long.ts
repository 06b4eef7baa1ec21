import { expect, test } from "vitest";
import { Random } from "../storm/random.ts";
import { stage } from "../support/stage.ts";
import { damagedStage, everyDamage, startOnDamage } from "./damage.ts";
import { recordSection } from "./proof.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const most = Number(process.env.HERDCTL_LONG_DAMAGES ?? 1_000);

test("every file of the state is damaged at several places: refused untouched, or no job is lost", {
  retry: 0,
  timeout: 3_600_000,
}, async () => {
  const slow = { text: "Done.", delay: { first: "500ms" } };
  const on = await damagedStage(await stage({ script: { rules: [{ reply: slow }] } }));
  const planned = everyDamage(on);
  const chosen = new Random(seed).shuffled(planned).slice(0, most);
  const began = Date.now();
  const complaints: string[] = [];
  const perFile = new Map<string, number>();
  for (const damage of chosen) {
    const name = damage.name.replace(/job-[^/]*/, "<id>");
    const wrong = await startOnDamage(on, damage).catch((error) => [String(error)]);
    perFile.set(name, (perFile.get(name) ?? 0) + 1);
    complaints.push(...wrong.map((text) => `${name} ${damage.way} at ${damage.at}: ${text}`));
    for (const text of wrong) process.stdout.write(`WRONG ${JSON.stringify(damage)} ${text}\n`);
  }
  const rows = [...perFile].sort().map(([name, count]) => `| \`${name}\` | ${count} |`);
  const table = ["| file | damages |", "|---|--:|", ...rows];
  const took = Math.round((Date.now() - began) / 1000);
  recordSection("damage", {
    seed,
    took,
    planned: planned.length,
    run: chosen.length,
    complaints,
    table,
  });
  expect(complaints).toEqual([]);
});
