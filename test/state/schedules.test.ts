import { expect, test } from "vitest";
import { newStores } from "./support.ts";

test("the last word on a schedule counts", async () => {
  const { schedules } = await newStores();
  expect(await schedules.switches()).toEqual([]);
  const nightly = { agent: "coder", schedule: "nightly" };
  const weekly = { agent: "coder", schedule: "weekly" };
  await schedules.switchTo(nightly, false);
  await schedules.switchTo(nightly, true);
  await schedules.switchTo(weekly, false);
  expect(await schedules.switches()).toEqual([
    { ...nightly, enabled: true },
    { ...weekly, enabled: false },
  ]);
});
