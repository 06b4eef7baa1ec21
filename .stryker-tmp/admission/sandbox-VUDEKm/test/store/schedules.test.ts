import { expect, test } from "vitest";
import { openStores } from "./test-stores.ts";

test("keeps the last switch of a schedule", async () => {
  const { schedules } = await openStores();
  expect(await schedules.listSwitches()).toEqual([]);
  const nightly = { agent: "coder", schedule: "nightly" };
  const weekly = { agent: "coder", schedule: "weekly" };
  await schedules.setEnabled(nightly, false);
  await schedules.setEnabled(nightly, true);
  await schedules.setEnabled(weekly, false);
  expect(await schedules.listSwitches()).toEqual([
    { ...nightly, enabled: true },
    { ...weekly, enabled: false },
  ]);
});
