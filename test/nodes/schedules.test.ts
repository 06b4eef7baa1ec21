import { expect, onTestFinished, test } from "vitest";
import { testDatabase, testServer } from "../support/postgres.ts";
import { schedulesOnNodes } from "./support/schedules.ts";

await testServer();

test("schedules on three nodes that are struck meanwhile: each due time is settled once", async () => {
  const store = await testDatabase();
  const { wrong, records } = await schedulesOnNodes({
    ...{ seed: 3, store, schedules: 8, lasts: 20_000, calm: [500, 3_000] },
    whenOver: onTestFinished,
  });
  expect(wrong).toEqual([]);
  expect(records.length).toBeGreaterThan(16);
}, 240_000);
