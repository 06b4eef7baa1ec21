import { join } from "node:path";
import { StateManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { newStores, onCleanup, tempFolder } from "./support.ts";

test("the first pause stands, and only it is news", async () => {
  const { pauses, time } = await newStores();
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

test("a lifted pause can be set again", async () => {
  const { pauses } = await newStores();
  expect(await pauses.lift("agent:coder")).toBe(false);
  await pauses.pause("agent:coder", "operator", "");
  expect(await pauses.lift("agent:coder")).toBe(true);
  expect(await pauses.list()).toEqual([]);
  expect(await pauses.pause("agent:coder", "operator", "")).toBe(true);
});

test("of twenty that fail at once one is news", async () => {
  const { pauses } = await newStores();
  const news = await Promise.all(
    Array.from({ length: 20 }, () => pauses.pause("credential:api_key:1f2e", "auth_failed", "401")),
  );
  expect(news.filter(Boolean)).toHaveLength(1);
});

test("a pause outlives the process", async () => {
  const folder = join(tempFolder(), ".herdctl");
  const before = await new StateManager(folder).open();
  await before.pauses.pause("agent:coder", "operator", "by hand");
  await before.close();
  const after = await new StateManager(folder).open();
  onCleanup(() => after.close());
  expect(await after.pauses.list()).toMatchObject([{ subject: "agent:coder" }]);
});
