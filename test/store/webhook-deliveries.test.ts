import { expect, test } from "vitest";
import type { NewDelivery } from "../../packages/protocol/src/records/delivery.ts";
import { openStores } from "./test-stores.ts";

function delivery(key: string, change: Partial<NewDelivery> = {}): NewDelivery {
  return {
    agent: "coder",
    schedule: "issues",
    dedup_key: key,
    event: "issues.labeled",
    content_type: "application/json",
    headers: { "x-github-event": "issues" },
    bytes: 2,
    status: "accepted",
    reason: null,
    job_id: `job-${key}`,
    replay_of: null,
    body: '{"text":"a \\u0000 b"}',
    ...change,
  };
}

test("keeps a delivery whole and lists it without its body", async () => {
  const { deliveries } = await openStores();
  const body = "a\0b \u{1f411} \ud800";
  const recorded = await deliveries.record(delivery("one", { body }));
  expect(recorded).toMatchObject({ agent: "coder", job_id: "job-one", redeliveries: 0 });
  expect(await deliveries.get(recorded.id)).toEqual({ ...recorded, body });
  expect((await deliveries.list({ limit: 10 })).deliveries).toEqual([recorded]);
  expect(await deliveries.findByPrefix(recorded.id.slice(-10, -2))).toEqual([recorded]);
  expect(await deliveries.get("delivery-none")).toBeUndefined();
});

test("counts a delivery with a used key and keeps its first job", async () => {
  const { deliveries } = await openStores();
  const first = await deliveries.record(delivery("one"));
  const again = await deliveries.record(delivery("one", { job_id: "job-other" }));
  expect(again).toEqual({ ...first, redeliveries: 1 });
});

test("creates a job for an unwanted delivery that is wanted when it comes again", async () => {
  const { deliveries } = await openStores();
  const unwanted = { status: "unwanted", reason: "not an event of ours", job_id: null } as const;
  const first = await deliveries.record(delivery("one", unwanted));
  const again = await deliveries.record(delivery("one"));
  expect(again).toMatchObject({ id: first.id, status: "accepted", reason: null });
  expect(await deliveries.record(delivery("one", unwanted))).toMatchObject({ status: "accepted" });
});

test("lists deliveries newest first in pages, for all agents or one", async () => {
  const { deliveries } = await openStores();
  for (const key of ["1", "2", "3", "4", "5"])
    await deliveries.record(delivery(key, { agent: Number(key) % 2 ? "odd" : "even" }));
  const first = await deliveries.list({ limit: 2 });
  expect(first.deliveries.map(({ dedup_key: key }) => key)).toEqual(["5", "4"]);
  const rest = await deliveries.list({ limit: 3, cursor: first.next_cursor ?? "" });
  expect(rest.deliveries.map(({ dedup_key: key }) => key)).toEqual(["3", "2", "1"]);
  expect(rest.next_cursor).toBeNull();
  const odd = await deliveries.list({ limit: 2, agent: "odd" });
  expect(odd.deliveries.map(({ dedup_key: key }) => key)).toEqual(["5", "3"]);
});

test("removes old deliveries and those beyond the number to keep", async () => {
  const { deliveries, time } = await openStores();
  for (const key of ["1", "2", "3", "4", "5"]) {
    await deliveries.record(delivery(key));
    time.now += 1000;
  }
  const receivedBefore = new Date(time.now - 4500);
  expect(await deliveries.prune({ receivedBefore, keep: 100, limit: 10 })).toBe(1);
  expect(await deliveries.prune({ receivedBefore, keep: 2, limit: 1 })).toBe(1);
  expect(await deliveries.prune({ receivedBefore, keep: 2, limit: 10 })).toBe(1);
  const { deliveries: kept } = await deliveries.list({ limit: 10 });
  expect(kept.map(({ dedup_key: key }) => key)).toEqual(["5", "4"]);
});
