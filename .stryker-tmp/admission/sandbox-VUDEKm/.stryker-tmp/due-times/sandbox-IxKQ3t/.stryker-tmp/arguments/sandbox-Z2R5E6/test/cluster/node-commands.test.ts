import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NodeCommandBus } from "../../packages/core/src/cluster/node-command-bus.ts";
import { commandIdOf, type NodeCommand } from "../../packages/core/src/cluster/node-commands.ts";
import { secondsAfterNoon } from "../jobs/job-fixture.ts";
import {
  createTestDatabase,
  queryDatabase,
  sharedPostgresAddress,
  startPrivatePostgres,
} from "../support/postgres.ts";
import { proxiedAddress, startTcpProxy } from "../support/tcp-proxy.ts";

await sharedPostgresAddress();

const timeoutMs = 60_000;
const waitUntil = (condition: () => boolean) =>
  vi.waitUntil(condition, { timeout: timeoutMs, interval: 20 });

function beginCommand(job: string, seconds = 0): NodeCommand {
  return {
    kind: "begin",
    job,
    assigned: { node: "b", epoch: 1, at: secondsAfterNoon(seconds).toISOString() },
  };
}

async function startCommandBus(
  store: string,
  node: string,
  fails: (order: NodeCommand) => boolean = () => false,
) {
  const [done, dead, troubles]: [NodeCommand[], NodeCommand[], string[]] = [[], [], []];
  const one = new NodeCommandBus({
    connectionString: store,
    nodeId: node,
    reportError: (message) => troubles.push(message),
  });
  onTestFinished(() => one.stop());
  await one.start({
    handleCommand: async (order) => {
      if (fails(order)) throw new Error("not now");
      done.push(order);
    },
    handleDeadLetter: async (order) => void dead.push(order),
  });
  return { one, done, dead, troubles };
}

test("gives equal assignments the same command id, and others a different one", () => {
  expect(commandIdOf(beginCommand("job-1"))).toBe(commandIdOf(beginCommand("job-1")));
  expect(commandIdOf(beginCommand("job-1"))).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const others = [beginCommand("job-2"), beginCommand("job-1", 1)].map(commandIdOf);
  expect(new Set([commandIdOf(beginCommand("job-1")), ...others]).size).toBe(3);
});

describe("node commands", { timeout: 120_000 }, () => {
  test("sets up an empty database once when nodes start concurrently, and connects them", async () => {
    const store = await createTestDatabase();
    const names = ["a", "b", "c", "d", "e"];
    const all = await Promise.all(names.map((name) => startCommandBus(store, name)));
    const [a] = all;
    await Promise.all(names.map((name) => a?.one.send(name, { kind: "reload" })));
    await waitUntil(() => all.every(({ done }) => done.length === 1));
    expect(all.flatMap(({ troubles }) => troubles)).toEqual([]);
  });

  test("executes a command once when many nodes send it, even on a node that joins later", async () => {
    const store = await createTestDatabase();
    const [a, c] = [await startCommandBus(store, "a"), await startCommandBus(store, "c")];
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 ? a : c).one.send("b", beginCommand("job-1")),
      ),
    );
    expect(sent).toEqual(Array(10).fill(true));
    const b = await startCommandBus(store, "b");
    await waitUntil(() => b.done.length > 0);
    await a.one.send("b", { kind: "reload" });
    await waitUntil(() => b.done.some(({ kind }) => kind === "reload"));
    expect(b.done).toEqual([beginCommand("job-1"), { kind: "reload" }]);
  });

  test("redelivers a failed command without its batch, and reports a dead letter in the end", async () => {
    const store = await createTestDatabase();
    const tries: string[] = [];
    const b = await startCommandBus(store, "b", (order) => {
      if (order.kind !== "begin") return false;
      tries.push(order.job);
      return order.job === "job-bad" || (order.job === "job-slow" && tries.length < 6);
    });
    for (const job of ["job-bad", "job-slow", "job-good"]) await b.one.send("b", beginCommand(job));
    await waitUntil(() => b.done.length === 2);
    await waitUntil(() => b.dead.length > 0);
    expect(b.done.map((order) => order.kind === "begin" && order.job).sort()).toEqual([
      "job-good",
      "job-slow",
    ]);
    expect(b.dead).toEqual([beginCommand("job-bad")]);
    expect(tries.filter((job) => job === "job-good")).toHaveLength(1);
    expect(tries.filter((job) => job === "job-bad").length).toBe(6);
  });

  test("ignores a command of a later version and reports no dead letter for it", async () => {
    const store = await createTestDatabase();
    const b = await startCommandBus(store, "b");
    const later = { kind: "dance" } as unknown as NodeCommand;
    await b.one.send("b", later);
    await b.one.send("b", { kind: "reload" });
    await waitUntil(() => b.done.length > 0);
    expect(b).toMatchObject({ done: [{ kind: "reload" }], dead: [] });
    const left = await queryDatabase(
      store,
      "SELECT state FROM herdctl_boss.job WHERE state <> 'completed'",
    );
    expect(left).toEqual([]);
  });

  test("reports a database outage once and delivers commands again afterwards", async () => {
    const server = await startPrivatePostgres();
    const [a, b] = [
      await startCommandBus(server.address, "a"),
      await startCommandBus(server.address, "b"),
    ];
    await a.one.send("b", beginCommand("job-1"));
    await waitUntil(() => b.done.length === 1);
    await server.stop();
    expect(await a.one.send("b", beginCommand("job-2"))).toBe(false);
    await waitUntil(() => b.troubles.length > 0);
    await server.start();
    await vi.waitUntil(() => a.one.send("b", beginCommand("job-2")), { timeout: timeoutMs });
    await waitUntil(() => b.done.length === 2);
    expect(b.done[1]).toEqual(beginCommand("job-2"));
    expect([a.troubles.length, b.troubles.length]).toEqual([1, 1]);
  });

  test("detects a silently broken connection and delivers commands again", async () => {
    const store = await createTestDatabase();
    const proxy = await startTcpProxy(Number(new URL(store).port));
    const [a, b] = [
      await startCommandBus(store, "a"),
      await startCommandBus(proxiedAddress(proxy, store), "b"),
    ];
    await a.one.send("b", beginCommand("job-1"));
    await waitUntil(() => b.done.length === 1);
    proxy.silence();
    await a.one.send("b", beginCommand("job-2"));
    await proxy.restore();
    await waitUntil(() => b.done.length === 2);
    expect(b.done[1]).toEqual(beginCommand("job-2"));
  });

  test("does not wait for an unavailable database on stop", async () => {
    const server = await startPrivatePostgres();
    const { one } = await startCommandBus(server.address, "a");
    await server.stop();
    const began = Date.now();
    await one.stop();
    expect(Date.now() - began).toBeLessThan(10_000);
  });
});
