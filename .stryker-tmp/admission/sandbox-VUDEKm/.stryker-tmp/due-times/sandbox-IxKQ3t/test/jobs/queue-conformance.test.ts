import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NodeCommandBus } from "../../packages/core/src/cluster/node-command-bus.ts";
import {
  SharedQueue,
  type SharedQueueOptions,
} from "../../packages/core/src/cluster/shared-queue.ts";
import type { ClaimLimits } from "../../packages/core/src/jobs/dispatch/claim.ts";
import { EmbeddedQueue } from "../../packages/core/src/jobs/dispatch/embedded-queue.ts";
import type { Queue } from "../../packages/core/src/jobs/dispatch/queue-interface.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import type { Job } from "../../packages/protocol/src/records/job.ts";
import type { Node } from "../../packages/protocol/src/records/node.ts";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

await sharedPostgresAddress();

const timeoutMs = 30_000;
const waitUntil = (condition: () => boolean | Promise<boolean>) =>
  vi.waitUntil(condition, { timeout: timeoutMs, interval: 20 });

const limits: ClaimLimits = {
  fleet: 100,
  agents: new Map([
    ["coder", 100],
    ["writer", 100],
  ]),
  paused: new Set(),
  servedAt: new Map(),
};

/** The part of a fleet that the queue works with. */
class TestWorker {
  queue!: Queue;
  limits = limits;
  /** The started jobs, in order. */
  readonly startedJobs: string[] = [];
  readonly cancelled: { jobId: string; force: boolean }[] = [];
  /** How many of the next starts fail. */
  failures = 0;
  reloads = 0;
  private readonly active = new Set<string>();
  private served = 0;
  private readonly servedAt = new Map<string, number>();
  private currentRun: Promise<unknown> = Promise.resolve();

  constructor(
    readonly state: StateManager,
    readonly node?: Node,
  ) {}

  readonly isActive = (jobId: string) => this.active.has(jobId);

  start(): Promise<void> {
    return this.queue.start({
      begin: (jobId) => this.startJob(jobId),
      cancel: async (jobId, force) => void this.cancelled.push({ jobId, force }),
      reload: async () => {
        this.reloads += 1;
      },
    });
  }

  /** Runs one pass after the other, like a fleet. */
  runQueue(): Promise<void> {
    const passed = this.currentRun.then(async () => {
      const now = new Date();
      const { startHere } = await this.queue.assign(
        { ...this.limits, servedAt: this.servedAt },
        now,
      );
      for (const id of startHere) await this.startJob(id).catch(() => undefined);
    });
    this.currentRun = passed;
    return passed;
  }

  async endJob(jobId: string): Promise<void> {
    const { jobs } = this.state;
    const { attempts } = (await jobs.get(jobId)) ?? { attempts: 0 };
    const outcome = { code: "success" as const, message: "done", hint: "" };
    const endJob = { outcome_code: outcome.code, session_id: null, cost_usd: null };
    await jobs.endAttempt(jobId, attempts, endJob, { status: "completed", outcome });
    this.active.delete(jobId);
  }

  private async startJob(jobId: string): Promise<boolean> {
    if (this.active.has(jobId)) return true;
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error("not now");
    }
    const job = await this.state.jobs.get(jobId);
    if (!job || !this.queue.isOurs(job)) return false;
    this.active.add(jobId);
    this.served += 1;
    this.servedAt.set(job.agent, this.served);
    const by = this.node && { node: this.node.id, epoch: this.node.epoch };
    const { applied } = await this.state.jobs.startAttempt(jobId, {}, undefined, by);
    if (applied) this.startedJobs.push(jobId);
    return applied;
  }
}

async function openState(store?: string): Promise<StateManager> {
  const state = await new StateManager(join(tempFolderWith({}), "state")).open({ store });
  onTestFinished(() => state.close());
  return state;
}

async function startEmbedded(): Promise<TestWorker[]> {
  const state = await openState();
  const worker = new TestWorker(state);
  const { isActive } = worker;
  worker.queue = new EmbeddedQueue({ jobs: state.jobs, isActive, isOwnJob: () => true });
  return [worker];
}

async function nodes(): Promise<TestWorker[]> {
  const store = await createTestDatabase();
  const workers = await Promise.all([
    joinWorker("a", store),
    joinWorker("b", store),
    joinWorker("c", store),
  ]);
  const all = (await workers[0]?.state.shared?.nodes.list()) ?? [];
  for (const worker of workers) worker.queue = createSharedQueue(worker, store, all);
  return workers;
}

async function joinWorker(
  id: string,
  store: string,
  change: { capacity?: number } = {},
): Promise<TestWorker> {
  const state = await openState(store);
  const facts = { id, name: id, role: "all" as const, labels: [], capacity: 50 };
  const node = { ...facts, version: "0", config_hash: "print", address: null, ...change };
  const answer = await state.shared?.nodes.join(node, "secret");
  if (answer?.kind !== "joined") throw new Error("the node could not join");
  return new TestWorker(state, answer.node);
}

function createCommandBus({ node }: TestWorker, connectionString: string): NodeCommandBus {
  const trouble = (message: string, cause: unknown) => {
    throw new Error(message, { cause });
  };
  return new NodeCommandBus({ connectionString, nodeId: node?.id ?? "", reportError: trouble });
}

function createSharedQueue(
  worker: TestWorker,
  store: string,
  all: Node[],
  change: Partial<SharedQueueOptions> = {},
): Queue {
  const here = worker.node;
  if (!here) throw new Error("no node");
  return new SharedQueue({
    jobs: worker.state.jobs,
    commandBus: createCommandBus(worker, store),
    currentNode: () => here,
    knownNodes: () => all,
    canAssign: () => true,
    rules: () => ({
      placementRules: new Map(
        [...worker.limits.agents.keys()].map((agent) => [
          agent,
          { runsOn: [], whenNodeGone: "move" as const },
        ]),
      ),
      latestSessionQuery: () => null,
    }),
    isActive: worker.isActive,
    ...change,
  });
}

describe.each([
  ["embedded queue", startEmbedded],
  ["shared queue of several nodes", nodes],
])("%s", { timeout: 60_000 }, (_, open) => {
  async function opened(change: Partial<ClaimLimits> = {}) {
    const workers = await open();
    for (const worker of workers) worker.limits = { ...limits, ...change };
    onTestFinished(async () => {
      await Promise.all(workers.map(({ queue }) => queue.stop()));
    });
    await Promise.all(workers.map((worker) => worker.start()));
    const first = workers[0];
    if (!first) throw new Error("nobody is there");
    const add = async (agent: string, count = 1, priority = 0) => {
      const made: Job[] = [];
      for (let index = 0; index < count; index += 1)
        made.push((await first.state.jobs.create({ agent, prompt: "hello", priority })).job);
      return made;
    };
    const begun = () => workers.flatMap((worker) => worker.startedJobs);
    const passes = () => Promise.all(workers.map((worker) => worker.runQueue()));
    return { workers, first, add, begun, passes };
  }

  test("starts each job once, however often and by whom the queue is run", async () => {
    const { add, begun, passes } = await opened();
    const made = (await add("coder", 20)).map(({ id }) => id);
    await Promise.all([passes(), passes(), passes()]);
    await waitUntil(() => begun().length >= 20);
    await passes();
    expect(begun().sort()).toEqual(made.sort());
  });

  test("breaks no limit of an agent or the fleet in a hundred concurrent passes", async () => {
    const change = { fleet: 5, agents: new Map([...limits.agents, ["coder", 3]]) };
    const { workers, first, add, begun } = await opened(change);
    await add("coder", 15);
    await add("writer", 15);
    const condition = (index: number) => workers[index % workers.length]?.runQueue();
    await Promise.all(Array.from({ length: 100 }, (_unused, index) => condition(index)));
    await waitUntil(() => begun().length >= 5);
    const live = await first.state.jobs.listLive();
    const busy = live.filter(({ status, assigned }) => status === "running" || assigned);
    expect(busy).toHaveLength(5);
    expect(busy.filter(({ agent }) => agent === "coder").length).toBeLessThanOrEqual(3);
    expect(begun()).toHaveLength(5);
  });

  test("alternates between agents", async () => {
    const { workers, first, add, begun } = await opened({ fleet: 1 });
    await add("coder", 3);
    await add("writer", 3);
    const agents: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const worker = workers[turn % workers.length];
      await worker?.runQueue();
      await waitUntil(() => begun().length > turn);
      const at = workers.find((one) => one.startedJobs.some((id) => one.isActive(id)));
      const id = at?.startedJobs.find((one) => at.isActive(one)) ?? "";
      agents.push((await first.state.jobs.get(id))?.agent ?? "");
      await at?.endJob(id);
    }
    expect(agents).toEqual(["coder", "writer", "coder", "writer", "coder", "writer"]);
  });

  test("starts urgent jobs first", async () => {
    const { first, add, begun } = await opened({ fleet: 2 });
    await add("coder", 2);
    const [urgent] = await add("coder", 1, 5);
    const [soon] = await add("writer", 1, 3);
    await first.runQueue();
    await waitUntil(() => begun().length === 2);
    expect(begun().sort()).toEqual([urgent?.id, soon?.id].sort());
  });

  test("retries a job that could not be started", async () => {
    const { workers, add, begun, passes } = await opened();
    for (const worker of workers) worker.failures = 2;
    const [job] = await add("coder");
    await waitUntil(async () => {
      await passes();
      return begun().length > 0;
    });
    expect(begun()).toEqual([job?.id]);
  });

  test("delivers a cancel request only to the worker with the job", async () => {
    const { workers, first, add, begun } = await opened();
    await add("coder");
    const last = workers.at(-1);
    await last?.runQueue();
    await waitUntil(() => begun().length === 1);
    const [id = ""] = begun();
    const job = await first.state.jobs.get(id);
    if (!job || !last) throw new Error("there is no job");
    const isElsewhere = last !== first;
    expect(await last.queue.cancel(job, true)).toBe(false);
    expect(await first.queue.cancel(job, true)).toBe(isElsewhere);
    if (!isElsewhere) return;
    await waitUntil(() => last.cancelled.length > 0);
    expect(last.cancelled).toEqual([{ jobId: id, force: true }]);
    expect(workers.slice(0, -1).flatMap(({ cancelled }) => cancelled)).toEqual([]);
  });

  test("makes all other workers reload their configuration", async () => {
    const { workers, first } = await opened();
    await first.queue.reload();
    await waitUntil(() => workers.slice(1).every(({ reloads }) => reloads === 1));
    expect(first.reloads).toBe(0);
  });

  test("starts nothing after its stop", async () => {
    const { workers, first, add } = await opened();
    await Promise.all(workers.slice(1).map(({ queue }) => queue.stop()));
    first.limits = { ...first.limits, paused: new Set(["coder", "writer"]) };
    await add("coder", 3);
    await first.runQueue();
    await Promise.all(workers.map(({ queue }) => queue.stop()));
    await first.queue.stop();
    expect(workers.flatMap(({ startedJobs }) => startedJobs)).toEqual([]);
  });
});

describe("shared queue between nodes", { timeout: 60_000 }, () => {
  /** A node that assigns jobs and a node that runs them, which reads the store only when asked. */
  async function pair(change: Partial<SharedQueueOptions> = {}) {
    const store = await createTestDatabase();
    const [a, b] = [await joinWorker("a", store, { capacity: 0 }), await joinWorker("b", store)];
    const all = (await a.state.shared?.nodes.list()) ?? [];
    a.queue = createSharedQueue(a, store, all, change);
    b.queue = createSharedQueue(b, store, all, { canAssign: () => false });
    onTestFinished(async () => {
      await Promise.all([a.queue.stop(), b.queue.stop()]);
    });
    const { job } = await a.state.jobs.create({ agent: "coder", prompt: "hello" });
    const read = async () => (await a.state.jobs.get(job.id)) ?? job;
    return { a, b, job, read, store, all };
  }

  const mute = { start: async () => undefined, stop: async () => undefined };

  test("starts an assigned job found in the store when the command was never sent", async () => {
    const { a, b, job, read } = await pair({ commandBus: { ...mute, send: async () => false } });
    await a.runQueue();
    expect(await read()).toMatchObject({ status: "pending", assigned: { node: "b", epoch: 1 } });
    await b.runQueue();
    expect(b.startedJobs).toEqual([job.id]);
    expect(await read()).toMatchObject({ status: "running", node: "b", assigned: null });
  });

  test("resends a command after two seconds when it was never sent", async () => {
    let isDown = true;
    const sent: string[] = [];
    const send: NodeCommandBus["send"] = async (node) => {
      if (!isDown) sent.push(node);
      return !isDown;
    };
    const { a, store, all } = await pair({ commandBus: { ...mute, send } });
    await a.runQueue();
    isDown = false;
    await a.runQueue();
    expect(sent).toEqual([]);
    const c = await joinWorker("c", store);
    c.queue = createSharedQueue(c, store, all, { commandBus: { ...mute, send } });
    const later = new Date(Date.now() + 2_500);
    await c.queue.assign(limits, later);
    await c.queue.assign(limits, later);
    expect(sent).toEqual(["b"]);
  });

  test("assigns a job again when the node rejoined before starting it", async () => {
    const { a, b, job, read, store } = await pair({
      commandBus: { ...mute, send: async () => true },
    });
    await a.runQueue();
    const again = await joinWorker("b", store);
    again.queue = createSharedQueue(again, store, [], { canAssign: () => false });
    await again.runQueue();
    await b.runQueue();
    expect([...again.startedJobs, ...b.startedJobs]).toEqual([]);
    await a.runQueue();
    expect(await read()).toMatchObject({ assigned: { node: "b", epoch: 2 } });
    await again.runQueue();
    expect(again.startedJobs).toEqual([job.id]);
  });

  test("returns jobs that are assigned to a node about to stop", async () => {
    const { a, b, read } = await pair();
    await a.start();
    await b.queue.start({
      begin: async () => false,
      cancel: async () => undefined,
      reload: async () => undefined,
    });
    await a.runQueue();
    await waitUntil(async () => (await read()).assigned === null);
    expect(await read()).toMatchObject({ status: "pending", attempts: 0 });
  });

  test("assigns nothing to and from a node with another configuration", async () => {
    const { a, b, read } = await pair({ commandBus: { ...mute, send: async () => true } });
    const beat = (configPrint: string) =>
      b.state.shared?.nodes.heartbeat({
        running: 0,
        sentAt: new Date(),
        configHash: configPrint,
        knownPeers: [],
      });
    await b.runQueue();
    await beat("other");
    await a.runQueue();
    expect(await read()).toMatchObject({ assigned: null });
    await beat("print");
    await a.runQueue();
    expect(await read()).toMatchObject({ assigned: { node: "b" } });
  });

  test("never starts a job that was cancelled before its node started it", async () => {
    const { a, b, job, read } = await pair({ commandBus: { ...mute, send: async () => true } });
    await a.runQueue();
    expect(await a.queue.cancel(await read(), false)).toBe(false);
    const outcome = { code: "cancelled" as const, message: "cancelled", hint: "" };
    await a.state.jobs.update(job.id, { status: "cancelled", outcome });
    await b.runQueue();
    expect(b.startedJobs).toEqual([]);
    const by = { node: "b", epoch: 1 };
    expect(await b.state.jobs.startAttempt(job.id, {}, undefined, by)).toMatchObject({
      applied: false,
    });
  });
});
