import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ClusterEvents } from "../../packages/core/src/cluster/cluster-events.ts";
import { waitForJob } from "../../packages/core/src/jobs/attempts/wait-for-job.ts";
import { EventHub } from "../../packages/core/src/lib/event-hub.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import type { FleetEvent } from "../../packages/protocol/src/api/fleet-control.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { proxiedAddress, startTcpProxy } from "../support/tcp-proxy.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

await sharedPostgresAddress();

async function startNodeEvents(here: string, store: string) {
  const state = await new StateManager(join(tempFolderWith({}), "state")).open({ store });
  onTestFinished(() => state.close());
  const hub = new EventHub((error) => {
    throw error;
  });
  const receivedEvents: FleetEvent[] = [];
  void (async () => {
    for await (const event of hub.stream(new AbortController().signal)) receivedEvents.push(event);
  })();
  onTestFinished(() => hub.close());
  if (!state.shared) throw new Error("the state is not shared");
  const trouble = (message: string, cause?: unknown) => {
    throw new Error(message, { cause });
  };
  const clusterEvents = new ClusterEvents({
    shared: state.shared,
    state,
    hub,
    nodeId: here,
    reportError: trouble,
  });
  await clusterEvents.start();
  onTestFinished(() => clusterEvents.stop());
  return { state, hub, received: receivedEvents, clusterEvents };
}

const success = { code: "success" as const, message: "done", hint: "" };

test("delivers the events of one node to the others once and in order", async () => {
  const store = await createTestDatabase();
  const [a, b] = [await startNodeEvents("a", store), await startNodeEvents("b", store)];
  const { job } = await a.state.jobs.create({ agent: "one", prompt: "x".repeat(50_000) });
  a.hub.emit({ type: "job:created", job });
  a.hub.emit({ type: "agent:paused", agent: "one", reason: "by hand" });
  const message = { type: "system" } as unknown as Extract<
    FleetEvent,
    { type: "job:output" }
  >["message"];
  a.hub.emit({ type: "job:output", job_id: job.id, agent: "one", message, offset: 1 });
  a.hub.emit({ type: "fleet:problem", message: "a matter of this node" });
  a.hub.emit({ type: "schedule:toggled", agent: "one", schedule: "daily", enabled: false });
  await waitUntil("the last one", async () =>
    b.received.some(({ type }) => type === "schedule:toggled"),
  );
  const at = expect.any(String);
  expect(b.received).toEqual([
    { type: "job:created", at, job: { ...job, output_file: expect.any(String) } },
    { type: "agent:paused", at, agent: "one", reason: "by hand" },
    { type: "schedule:toggled", at, agent: "one", schedule: "daily", enabled: false },
  ]);
  expect(a.received).toHaveLength(5);
});

test("notifies a waiter on another node of the end of a job", async () => {
  const store = await createTestDatabase();
  const [a, b] = [await startNodeEvents("a", store), await startNodeEvents("b", store)];
  const { job } = await a.state.jobs.create({ agent: "one", prompt: "hello" });
  const waiting = waitForJob(b, job.id);
  await a.state.jobs.startAttempt(job.id);
  const change = { status: "completed" as const, outcome: success };
  const ended = await a.state.jobs.update(job.id, change);
  a.hub.emit({ type: "job:completed", job: ended.job });
  expect(await waiting).toMatchObject({ id: job.id, status: "completed" });
});

test("reads the end of a job from the store when its node connects late", async () => {
  const store = await createTestDatabase();
  const b = await startNodeEvents("b", store);
  const { job } = await b.state.jobs.create({ agent: "one", prompt: "hello" });
  const waiting = waitForJob(b, job.id);
  await b.state.jobs.startAttempt(job.id);
  await b.state.jobs.update(job.id, { status: "completed", outcome: success });
  await startNodeEvents("a", store);
  expect(await waiting).toMatchObject({ id: job.id, status: "completed" });
});

test("reads missed events from the store after a connection loss", async () => {
  const store = await createTestDatabase();
  const proxy = await startTcpProxy(Number(new URL(store).port));
  const a = await startNodeEvents("a", store);
  const b = await startNodeEvents("b", proxiedAddress(proxy, store));
  const { job } = await a.state.jobs.create({ agent: "one", prompt: "hello" });
  const waiting = waitForJob(b, job.id);
  let woken = 0;
  const forget = b.clusterEvents.onOutputShipped(job.id, () => {
    woken += 1;
  });
  // By now the record has been read, so the waiter depends on events alone.
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
