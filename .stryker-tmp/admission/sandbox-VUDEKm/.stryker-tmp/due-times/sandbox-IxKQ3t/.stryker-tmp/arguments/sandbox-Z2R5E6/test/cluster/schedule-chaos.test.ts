import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { runScheduleChaos } from "./support/schedule-chaos.ts";

await sharedPostgresAddress();

test("settles each due time once while three nodes with schedules fail", async () => {
  const store = await createTestDatabase();
  const { violations, records } = await runScheduleChaos({
    ...{ seed: 3, store, schedules: 8, durationMs: 20_000, calmMs: [500, 3_000] },
    onCleanup: onTestFinished,
  });
  expect(violations).toEqual([]);
  expect(records.length).toBeGreaterThan(16);
}, 240_000);
