import { expect, test } from "vitest";
import { memoryStores } from "./support.ts";

test("the last word on a schedule counts", async () => {
  const { schedules, time } = memoryStores();
  expect(await schedules.switches()).toEqual([]);
  await schedules.switch("coder", "nightly", false);
  time.now += 1_000;
  await schedules.switch("coder", "nightly", true);
  await schedules.switch("coder", "weekly", false);
  expect(await schedules.switches()).toEqual([
    {
      agent: "coder",
      schedule: "nightly",
      enabled: true,
      since: "2030-01-01T00:00:01.000Z",
    },
    expect.objectContaining({ schedule: "weekly", enabled: false }),
  ]);
});
