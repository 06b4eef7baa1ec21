import { join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { onCleanup, openStores, tempFolder } from "./test-stores.ts";

test("keeps the first pause and reports only that", async () => {
  const { pauses, time } = await openStores();
  expect(await pauses.pause("credential:api_key:1f2e", "auth_failed", "401")).toBe(true);
  time.now += 1000;
  expect(await pauses.pause("credential:api_key:1f2e", "billing", "402")).toBe(false);
  expect(await pauses.pause("agent:coder", "operator", "")).toBe(true);
  expect(await pauses.list()).toEqual([
    {
      subject: "credential:api_key:1f2e",
      reason: "auth_failed",
      message: "401",
      since: "2030-01-01T00:00:00.000Z",
    },
    { subject: "agent:coder", reason: "operator", message: "", since: "2030-01-01T00:00:01.000Z" },
  ]);
});

test("sets a lifted pause again", async () => {
  const { pauses } = await openStores();
  expect(await pauses.lift("agent:coder")).toBe(false);
  await pauses.pause("agent:coder", "operator", "");
  expect(await pauses.lift("agent:coder")).toBe(true);
  expect(await pauses.list()).toEqual([]);
  expect(await pauses.pause("agent:coder", "operator", "")).toBe(true);
});

test("reports one of twenty concurrent failures", async () => {
  const { pauses } = await openStores();
  const isNew = await Promise.all(
    Array.from({ length: 20 }, () => pauses.pause("credential:api_key:1f2e", "auth_failed", "401")),
  );
  expect(isNew.filter(Boolean)).toHaveLength(1);
});

test("keeps a pause after the process has ended", async () => {
  const folder = join(tempFolder(), ".herdctl");
  const before = await new StateManager(folder).open();
  await before.pauses.pause("agent:coder", "operator", "by hand");
  await before.close();
  const after = await new StateManager(folder).open();
  onCleanup(() => after.close());
  expect(await after.pauses.list()).toMatchObject([{ subject: "agent:coder" }]);
});
