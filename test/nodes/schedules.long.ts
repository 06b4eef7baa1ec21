import { expect, onTestFinished, test } from "vitest";
import { recordSection } from "../faults/proof.ts";
import { testDatabase, testServer } from "../support/postgres.ts";
import { schedulesOnNodes } from "./support/schedules.ts";
import { asLines, asTable } from "./support/storm-lines.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const seconds = Number(process.env.HERDCTL_LONG_SCHEDULES_SECONDS ?? 600);

await testServer();

test(`a hundred schedules on three nodes for ${seconds} s, a node struck every few seconds: each due time is settled once`, {
  retry: 0,
  timeout: seconds * 1000 + 600_000,
}, async () => {
  const store = await testDatabase();
  const story = await schedulesOnNodes({
    ...{ seed, store, schedules: 100, lasts: seconds * 1000 },
    whenOver: onTestFinished,
  });
  const struck = Object.entries(story.blows).map(([kind, count]) => `${kind} ${count}`);
  const rows = {
    schedules: `${story.schedules}: half by cron every 5 s, half by interval every 7 s`,
    "due times": `${story.records.length}: ${story.ran} ran, ${story.skipped} passed over since the last run was not over`,
    blows: struck.join(" · "),
    wrong: String(story.wrong.length),
  };
  for (const line of [...asLines(rows), ...story.wrong]) process.stdout.write(`${line}\n`);
  recordSection("schedules", {
    ...{ seed, planned: story.records.length, run: story.records.length, table: asTable(rows) },
    took: Math.round(story.took / 1000),
    complaints: story.wrong,
  });
  expect(story.wrong).toEqual([]);
});
