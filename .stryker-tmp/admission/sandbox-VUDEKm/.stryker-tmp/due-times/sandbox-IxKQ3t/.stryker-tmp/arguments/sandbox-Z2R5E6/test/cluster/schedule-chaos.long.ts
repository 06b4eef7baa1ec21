import { expect, onTestFinished, test } from "vitest";
import { recordSection } from "../chaos/results-report.ts";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { formatLines, formatTable } from "./support/chaos-report.ts";
import { runScheduleChaos } from "./support/schedule-chaos.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const seconds = Number(process.env.HERDCTL_LONG_SCHEDULES_SECONDS ?? 600);

await sharedPostgresAddress();

test(`settles each due time once: a hundred schedules on three nodes for ${seconds} s, a fault every few seconds`, {
  retry: 0,
  timeout: seconds * 1000 + 600_000,
}, async () => {
  const store = await createTestDatabase();
  const run = await runScheduleChaos({
    ...{ seed, store, schedules: 100, durationMs: seconds * 1000 },
    onCleanup: onTestFinished,
  });
  const struck = Object.entries(run.faultCounts).map(([kind, count]) => `${kind} ${count}`);
  const rows = {
    schedules: `${run.schedules}: half by cron every 5 s, half by interval every 7 s`,
    "due times": `${run.records.length}: ${run.ran} ran, ${run.skipped} passed over since the last run was not over`,
    blows: struck.join(" · "),
    wrong: String(run.violations.length),
  };
  for (const line of [...formatLines(rows), ...run.violations]) process.stdout.write(`${line}\n`);
  recordSection("schedules", {
    ...{
      seed,
      plannedCount: run.records.length,
      runCount: run.records.length,
      table: formatTable(rows),
    },
    seconds: Math.round(run.durationMs / 1000),
    complaints: run.violations,
  });
  expect(run.violations).toEqual([]);
});
