import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { DatabaseSync } from "../../packages/core/src/state/sqlite/driver.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";

test("a first schedule that cannot be put on record at once is planned as soon as it can be", async () => {
  const on = await stage({ script: { rules: [{ reply: { text: "Done." } }] } });
  const agent = "  - { name: one, runtime: cli, schedules: {} }";
  const file = fleetFile(on, agent, "watch: false");
  const fleet = await startFleet(on, file);
  const other = new DatabaseSync(join(dirname(file), ".herdctl/herd.db"));
  const schedule = '{ type: cron, cron: "* * * * * *", overlap: allow, prompt: p }';
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("schedules: {}", `schedules: { s: ${schedule} }`));
  try {
    other.exec("BEGIN IMMEDIATE");
    // In force, but the audit log has no record of it yet.
    await expect(fleet.reload()).rejects.toMatchObject({ code: "state_unavailable" });
    other.exec("ROLLBACK");
  } finally {
    other.close();
  }
  const ran = await until("a due time", async () => (await fleet.jobs({ limit: 1 })).jobs[0]);
  expect(ran.schedule).toBe("s");
}, 90_000);
