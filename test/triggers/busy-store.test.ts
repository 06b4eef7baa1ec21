import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openSqlite } from "../../packages/core/src/store/sqlite/driver.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";

test("plans a first schedule later when the store is busy at the reload", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: { text: "Done." } }] } });
  const agent = "  - { name: one, runtime: cli, schedules: {} }";
  const file = writeFleetFile(harness, agent, "watch: false");
  const fleet = await startFleetInProcess(harness, file);
  const other = openSqlite(join(dirname(file), ".herdctl/herd.db"));
  const schedule = '{ type: cron, cron: "* * * * * *", overlap: allow, prompt: p }';
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("schedules: {}", `schedules: { s: ${schedule} }`));
  try {
    other.exec("BEGIN IMMEDIATE");
    // The configuration is in force, but the audit log has no record of it yet.
    await expect(fleet.reload()).rejects.toMatchObject({ code: "state_unavailable" });
    other.exec("ROLLBACK");
  } finally {
    other.close();
  }
  const ran = await waitUntil(
    "a due time",
    async () => (await fleet.jobs.list({ limit: 1 })).jobs[0],
  );
  expect(ran.schedule).toBe("s");
}, 90_000);
