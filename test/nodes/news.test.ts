import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { FleetEvent } from "../../packages/core/src/fleet/control.ts";
import { EventHub } from "../../packages/core/src/fleet/event-hub.ts";
import { News } from "../../packages/core/src/fleet/nodes/news.ts";
import { waitForJob } from "../../packages/core/src/fleet/wait-for-job.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { testDatabase, testServer } from "../support/postgres.ts";
import { proxyTo, through } from "../support/proxy.ts";

await testServer();

async function node(here: string, store: string) {
  const state = await new StateManager(join(folderWith({}), "state")).open({ store });
  onTestFinished(() => state.close());
  const hub = new EventHub((error) => {
    throw error;
  });
  const heard: FleetEvent[] = [];
  void (async () => {
    for await (const event of hub.stream(new AbortController().signal)) heard.push(event);
  })();
  onTestFinished(() => hub.close());
  if (!state.shared) throw new Error("the state is not shared");
  const trouble = (message: string, cause?: unknown) => {
    throw new Error(message, { cause });
  };
  const news = new News({ shared: state.shared, state, hub, here, trouble });
  await news.start();
  onTestFinished(() => news.stop());
  return { state, hub, heard, news };
}

const success = { code: "success" as const, message: "done", hint: "" };

test("what happens on one node is heard on the others, in order, and told once", async () => {
  const store = await testDatabase();
  const [a, b] = [await node("a", store), await node("b", store)];
  const { job } = await a.state.jobs.create({ agent: "one", prompt: "x".repeat(50_000) });
  a.hub.emit({ type: "job:created", job });
  a.hub.emit({ type: "agent:paused", agent: "one", reason: "by hand" });
  const said = { type: "system" } as unknown as Extract<
    FleetEvent,
    { type: "job:output" }
  >["message"];
  a.hub.emit({ type: "job:output", job_id: job.id, agent: "one", message: said, offset: 1 });
  a.hub.emit({ type: "fleet:problem", message: "a matter of this node" });
  a.hub.emit({ type: "schedule:switched", agent: "one", schedule: "daily", enabled: false });
  await until("the last one", async () => b.heard.some(({ type }) => type === "schedule:switched"));
  expect(b.heard).toEqual([
    { type: "job:created", job: { ...job, output_file: expect.any(String) } },
    { type: "agent:paused", agent: "one", reason: "by hand" },
    { type: "schedule:switched", agent: "one", schedule: "daily", enabled: false },
  ]);
  expect(a.heard).toHaveLength(5);
});

test("whoever waits on another node is told of the end", async () => {
  const store = await testDatabase();
  const [a, b] = [await node("a", store), await node("b", store)];
  const { job } = await a.state.jobs.create({ agent: "one", prompt: "hello" });
  const waiting = waitForJob(b, job.id);
  await a.state.jobs.startAttempt(job.id);
  const change = { status: "completed" as const, outcome: success };
  const ended = await a.state.jobs.update(job.id, change);
  a.hub.emit({ type: "job:completed", job: ended.job });
  expect(await waiting).toMatchObject({ id: job.id, status: "completed" });
});

test("what a node settled before it could tell of it is looked up when it has come", async () => {
  const store = await testDatabase();
  const b = await node("b", store);
  const { job } = await b.state.jobs.create({ agent: "one", prompt: "hello" });
  const waiting = waitForJob(b, job.id);
  await b.state.jobs.startAttempt(job.id);
  await b.state.jobs.update(job.id, { status: "completed", outcome: success });
  await node("a", store);
  expect(await waiting).toMatchObject({ id: job.id, status: "completed" });
});

test("news that was missed while the line was cut is looked up in the records", async () => {
  const store = await testDatabase();
  const proxy = await proxyTo(Number(new URL(store).port));
  const a = await node("a", store);
  const b = await node("b", through(proxy, store));
  const { job } = await a.state.jobs.create({ agent: "one", prompt: "hello" });
  const waiting = waitForJob(b, job.id);
  let woken = 0;
  const forget = b.news.onOutput(job.id, () => {
    woken += 1;
  });
  // The record has been read by then, on whichever connection, and the wait is for news alone.
  await delay(500);
  await proxy.refuse();
  await a.state.jobs.startAttempt(job.id);
  const change = { status: "completed" as const, outcome: success };
  const ended = await a.state.jobs.update(job.id, change);
  a.hub.emit({ type: "job:completed", job: ended.job });
  await proxy.restore();
  expect(await waiting).toMatchObject({ id: job.id, status: "completed" });
  expect(woken).toBeGreaterThan(0);
  forget();
}, 60_000);
