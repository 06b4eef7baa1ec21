import { expect, test } from "vitest";
import type { NewDelivery } from "../../packages/core/src/state/delivery.ts";
import { newStores } from "./support.ts";

function delivery(key: string, change: Partial<NewDelivery> = {}): NewDelivery {
  return {
    agent: "coder",
    schedule: "issues",
    key,
    event: "issues.labeled",
    content_type: "application/json",
    headers: { "x-github-event": "issues" },
    bytes: 2,
    verdict: "accepted",
    reason: null,
    job_id: `job-${key}`,
    replay_of: null,
    body: '{"text":"a \\u0000 b"}',
    ...change,
  };
}

test("a delivery is kept whole; a list does without the bodies", async () => {
  const { deliveries } = await newStores();
  const body = "a\0b \u{1f411} \ud800";
  const recorded = await deliveries.record(delivery("one", { body }));
  expect(recorded).toMatchObject({ agent: "coder", job_id: "job-one", redeliveries: 0 });
  expect(await deliveries.get(recorded.id)).toEqual({ ...recorded, body });
  expect((await deliveries.list({ limit: 10 })).deliveries).toEqual([recorded]);
  expect(await deliveries.findByPrefix(recorded.id.slice(-10, -2))).toEqual([recorded]);
  expect(await deliveries.get("delivery-none")).toBeUndefined();
});

test("the same key is the same delivery, counted; its first job stays", async () => {
  const { deliveries } = await newStores();
  const first = await deliveries.record(delivery("one"));
  const again = await deliveries.record(delivery("one", { job_id: "job-other" }));
  expect(again).toEqual({ ...first, redeliveries: 1 });
});

test("what was not wanted at first gets its job when it comes again", async () => {
  const { deliveries } = await newStores();
  const unwanted = { verdict: "unwanted", reason: "not an event of ours", job_id: null } as const;
  const first = await deliveries.record(delivery("one", unwanted));
  const again = await deliveries.record(delivery("one"));
  expect(again).toMatchObject({ id: first.id, verdict: "accepted", reason: null });
  expect(await deliveries.record(delivery("one", unwanted))).toMatchObject({ verdict: "accepted" });
});

test("pages go from the newest to the oldest, of all or of one agent", async () => {
  const { deliveries } = await newStores();
  for (const key of ["1", "2", "3", "4", "5"])
    await deliveries.record(delivery(key, { agent: Number(key) % 2 ? "odd" : "even" }));
  const first = await deliveries.list({ limit: 2 });
  expect(first.deliveries.map(({ key }) => key)).toEqual(["5", "4"]);
  const rest = await deliveries.list({ limit: 3, cursor: first.next ?? 0 });
  expect(rest.deliveries.map(({ key }) => key)).toEqual(["3", "2", "1"]);
  expect(rest.next).toBeNull();
  const odd = await deliveries.list({ limit: 2, agent: "odd" });
  expect(odd.deliveries.map(({ key }) => key)).toEqual(["5", "3"]);
});

test("old ones go, and those beyond the number that is kept", async () => {
  const { deliveries, time } = await newStores();
  for (const key of ["1", "2", "3", "4", "5"]) {
    await deliveries.record(delivery(key));
    time.now += 1000;
  }
  const receivedBefore = new Date(time.now - 4500);
  expect(await deliveries.prune({ receivedBefore, keep: 100, limit: 10 })).toBe(1);
  expect(await deliveries.prune({ receivedBefore, keep: 2, limit: 1 })).toBe(1);
  expect(await deliveries.prune({ receivedBefore, keep: 2, limit: 10 })).toBe(1);
  const { deliveries: kept } = await deliveries.list({ limit: 10 });
  expect(kept.map(({ key }) => key)).toEqual(["5", "4"]);
});
