import { describe, expect, onTestFinished, test, vi } from "vitest";
import { OrderCarrier } from "../../packages/core/src/queue/boss/order-carrier.ts";
import { type NodeOrder, orderIdOf } from "../../packages/core/src/queue/boss/orders.ts";
import { ask, ownPostgres, testDatabase, testServer } from "../support/postgres.ts";
import { proxyTo, through } from "../support/proxy.ts";
import { at } from "./live-job.ts";

await testServer();

const patience = 60_000;
const until = (look: () => boolean) => vi.waitUntil(look, { timeout: patience, interval: 20 });

function begin(job: string, seconds = 0): NodeOrder {
  return { kind: "begin", job, assigned: { node: "b", epoch: 1, at: at(seconds).toISOString() } };
}

async function carrier(
  store: string,
  node: string,
  fails: (order: NodeOrder) => boolean = () => false,
) {
  const [done, dead, troubles]: [NodeOrder[], NodeOrder[], string[]] = [[], [], []];
  const one = new OrderCarrier({
    connectionString: store,
    node,
    trouble: (message) => troubles.push(message),
  });
  onTestFinished(() => one.stop());
  await one.start({
    carryOut: async (order) => {
      if (fails(order)) throw new Error("not now");
      done.push(order);
    },
    dead: async (order) => void dead.push(order),
  });
  return { one, done, dead, troubles };
}

test("the same assignment is the same order, whoever sends it; a new one is another", () => {
  expect(orderIdOf(begin("job-1"))).toBe(orderIdOf(begin("job-1")));
  expect(orderIdOf(begin("job-1"))).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const others = [begin("job-2"), begin("job-1", 1)].map(orderIdOf);
  expect(new Set([orderIdOf(begin("job-1")), ...others]).size).toBe(3);
});

describe("between nodes", { timeout: 120_000 }, () => {
  test("nodes that start at once on an empty database set it up once, and reach each other", async () => {
    const store = await testDatabase();
    const names = ["a", "b", "c", "d", "e"];
    const all = await Promise.all(names.map((name) => carrier(store, name)));
    const [a] = all;
    await Promise.all(names.map((name) => a?.one.send(name, { kind: "reload" })));
    await until(() => all.every(({ done }) => done.length === 1));
    expect(all.flatMap(({ troubles }) => troubles)).toEqual([]);
  });

  test("an order that many send at once is carried out once, also by a node that comes later", async () => {
    const store = await testDatabase();
    const [a, c] = [await carrier(store, "a"), await carrier(store, "c")];
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? a : c).one.send("b", begin("job-1"))),
    );
    expect(sent).toEqual(Array(10).fill(true));
    const b = await carrier(store, "b");
    await until(() => b.done.length > 0);
    await a.one.send("b", { kind: "reload" });
    await until(() => b.done.some(({ kind }) => kind === "reload"));
    expect(b.done).toEqual([begin("job-1"), { kind: "reload" }]);
  });

  test("one that fails comes again without those beside it; in the end it is told as dead", async () => {
    const store = await testDatabase();
    const tries: string[] = [];
    const b = await carrier(store, "b", (order) => {
      if (order.kind !== "begin") return false;
      tries.push(order.job);
      return order.job === "job-bad" || (order.job === "job-slow" && tries.length < 6);
    });
    for (const job of ["job-bad", "job-slow", "job-good"]) await b.one.send("b", begin(job));
    await until(() => b.done.length === 2);
    await until(() => b.dead.length > 0);
    expect(b.done.map((order) => order.kind === "begin" && order.job).sort()).toEqual([
      "job-good",
      "job-slow",
    ]);
    expect(b.dead).toEqual([begin("job-bad")]);
    expect(tries.filter((job) => job === "job-good")).toHaveLength(1);
    expect(tries.filter((job) => job === "job-bad").length).toBe(6);
  });

  test("one of a later version says nothing to this one, and is not told as dead", async () => {
    const store = await testDatabase();
    const b = await carrier(store, "b");
    const later = { kind: "dance" } as unknown as NodeOrder;
    await b.one.send("b", later);
    await b.one.send("b", { kind: "reload" });
    await until(() => b.done.length > 0);
    expect(b).toMatchObject({ done: [{ kind: "reload" }], dead: [] });
    const left = await ask(store, "SELECT state FROM herdctl_boss.job WHERE state <> 'completed'");
    expect(left).toEqual([]);
  });

  test("the database was away: it is told once, and orders get through again by themselves", async () => {
    const server = await ownPostgres();
    const [a, b] = [await carrier(server.address, "a"), await carrier(server.address, "b")];
    await a.one.send("b", begin("job-1"));
    await until(() => b.done.length === 1);
    await server.stop();
    expect(await a.one.send("b", begin("job-2"))).toBe(false);
    await until(() => b.troubles.length > 0);
    await server.start();
    await vi.waitUntil(() => a.one.send("b", begin("job-2")), { timeout: patience });
    await until(() => b.done.length === 2);
    expect(b.done[1]).toEqual(begin("job-2"));
    expect([a.troubles.length, b.troubles.length]).toEqual([1, 1]);
  });

  test("a line that broke in silence is found out, and orders get through again", async () => {
    const store = await testDatabase();
    const proxy = await proxyTo(Number(new URL(store).port));
    const [a, b] = [await carrier(store, "a"), await carrier(through(proxy, store), "b")];
    await a.one.send("b", begin("job-1"));
    await until(() => b.done.length === 1);
    proxy.silence();
    await a.one.send("b", begin("job-2"));
    await proxy.restore();
    await until(() => b.done.length === 2);
    expect(b.done[1]).toEqual(begin("job-2"));
  });

  test("a stop does not wait for a database that is away", async () => {
    const server = await ownPostgres();
    const { one } = await carrier(server.address, "a");
    await server.stop();
    const began = Date.now();
    await one.stop();
    expect(Date.now() - began).toBeLessThan(10_000);
  });
});
