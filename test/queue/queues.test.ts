import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { BossQueue, type BossQueueOptions } from "../../packages/core/src/queue/boss/boss-queue.ts";
import { OrderCarrier } from "../../packages/core/src/queue/boss/order-carrier.ts";
import type { ClaimLimits } from "../../packages/core/src/queue/claim.ts";
import type { Queue } from "../../packages/core/src/queue/contract.ts";
import { EmbeddedQueue } from "../../packages/core/src/queue/embedded-queue.ts";
import type { Job } from "../../packages/core/src/state/job.ts";
import type { Node } from "../../packages/core/src/state/node.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { folderWith } from "../support/folder.ts";
import { testDatabase, testServer } from "../support/postgres.ts";

await testServer();

const patience = 30_000;
const until = (look: () => boolean | Promise<boolean>) =>
  vi.waitUntil(look, { timeout: patience, interval: 20 });

const limits: ClaimLimits = {
  fleet: 100,
  agents: new Map([
    ["coder", 100],
    ["writer", 100],
  ]),
  paused: new Set(),
  servedAt: new Map(),
};

/** Whoever runs jobs, reduced to what the queue has to do with it. */
class Worker {
  queue!: Queue;
  limits = limits;
  /** In the order in which they were begun here. */
  readonly begun: string[] = [];
  readonly cancelled: { jobId: string; force: boolean }[] = [];
  /** How often the next begin fails. */
  failures = 0;
  reloads = 0;
  private readonly active = new Set<string>();
  private served = 0;
  private readonly servedAt = new Map<string, number>();
  private passing: Promise<unknown> = Promise.resolve();

  constructor(
    readonly state: StateManager,
    readonly node?: Node,
  ) {}

  readonly isActive = (jobId: string) => this.active.has(jobId);

  start(): Promise<void> {
    return this.queue.start({
      begin: (jobId) => this.begin(jobId),
      cancel: async (jobId, force) => void this.cancelled.push({ jobId, force }),
      reload: async () => {
        this.reloads += 1;
      },
    });
  }

  /** One look after the other, as a fleet does. */
  pass(): Promise<void> {
    const passed = this.passing.then(async () => {
      const now = new Date();
      const { here } = await this.queue.handOut({ ...this.limits, servedAt: this.servedAt }, now);
      for (const id of here) await this.begin(id).catch(() => undefined);
    });
    this.passing = passed;
    return passed;
  }

  async end(jobId: string): Promise<void> {
    const { jobs } = this.state;
    const { attempts } = (await jobs.get(jobId)) ?? { attempts: 0 };
    const outcome = { code: "success" as const, message: "done", hint: "" };
    const end = { outcome_code: outcome.code, session_id: null, cost_usd: null };
    await jobs.endAttempt(jobId, attempts, end, { status: "completed", outcome });
    this.active.delete(jobId);
  }

  private async begin(jobId: string): Promise<boolean> {
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
    if (applied) this.begun.push(jobId);
    return applied;
  }
}

async function openState(store?: string): Promise<StateManager> {
  const state = await new StateManager(join(folderWith({}), "state")).open({ store });
  onTestFinished(() => state.close());
  return state;
}

async function embedded(): Promise<Worker[]> {
  const state = await openState();
  const worker = new Worker(state);
  const { isActive } = worker;
  worker.queue = new EmbeddedQueue({ jobs: state.jobs, isActive, concerns: () => true });
  return [worker];
}

async function nodes(): Promise<Worker[]> {
  const store = await testDatabase();
  const workers = await Promise.all([joined("a", store), joined("b", store), joined("c", store)]);
  const all = (await workers[0]?.state.shared?.nodes.list()) ?? [];
  for (const worker of workers) worker.queue = bossQueue(worker, store, all);
  return workers;
}

async function joined(
  id: string,
  store: string,
  change: { capacity?: number } = {},
): Promise<Worker> {
  const state = await openState(store);
  const facts = { id, name: id, role: "all" as const, labels: [], capacity: 50 };
  const node = { ...facts, version: "0", config_print: "print", address: null, ...change };
  const answer = await state.shared?.nodes.join(node, "secret");
  if (answer?.kind !== "joined") throw new Error("the node could not join");
  return new Worker(state, answer.node);
}

function carrierOf({ node }: Worker, connectionString: string): OrderCarrier {
  const trouble = (message: string, cause: unknown) => {
    throw new Error(message, { cause });
  };
  return new OrderCarrier({ connectionString, node: node?.id ?? "", trouble });
}

function bossQueue(
  worker: Worker,
  store: string,
  all: Node[],
  change: Partial<BossQueueOptions> = {},
): Queue {
  const here = worker.node;
  if (!here) throw new Error("no node");
  return new BossQueue({
    jobs: worker.state.jobs,
    carrier: carrierOf(worker, store),
    here: () => here,
    nodes: () => all,
    mayHandOut: () => true,
    rules: () => ({
      places: new Map(
        [...worker.limits.agents.keys()].map((agent) => [
          agent,
          { runsOn: [], whenGone: "move" as const },
        ]),
      ),
      latestOf: () => null,
    }),
    isActive: worker.isActive,
    ...change,
  });
}

describe.each([
  ["the queue of one process", embedded],
  ["the queue of several nodes", nodes],
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
    const begun = () => workers.flatMap((worker) => worker.begun);
    const passes = () => Promise.all(workers.map((worker) => worker.pass()));
    return { workers, first, add, begun, passes };
  }

  test("each job is handed out once, whoever looks how often", async () => {
    const { add, begun, passes } = await opened();
    const made = (await add("coder", 20)).map(({ id }) => id);
    await Promise.all([passes(), passes(), passes()]);
    await until(() => begun().length >= 20);
    await passes();
    expect(begun().sort()).toEqual(made.sort());
  });

  test("a hundred looks at once break no limit of an agent or the fleet", async () => {
    const change = { fleet: 5, agents: new Map([...limits.agents, ["coder", 3]]) };
    const { workers, first, add, begun } = await opened(change);
    await add("coder", 15);
    await add("writer", 15);
    const look = (index: number) => workers[index % workers.length]?.pass();
    await Promise.all(Array.from({ length: 100 }, (_unused, index) => look(index)));
    await until(() => begun().length >= 5);
    const live = await first.state.jobs.snapshot();
    const busy = live.filter(({ status, assigned }) => status === "running" || assigned);
    expect(busy).toHaveLength(5);
    expect(busy.filter(({ agent }) => agent === "coder").length).toBeLessThanOrEqual(3);
    expect(begun()).toHaveLength(5);
  });

  test("agents take turns", async () => {
    const { workers, first, add, begun } = await opened({ fleet: 1 });
    await add("coder", 3);
    await add("writer", 3);
    const agents: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const worker = workers[turn % workers.length];
      await worker?.pass();
      await until(() => begun().length > turn);
      const at = workers.find((one) => one.begun.some((id) => one.isActive(id)));
      const id = at?.begun.find((one) => at.isActive(one)) ?? "";
      agents.push((await first.state.jobs.get(id))?.agent ?? "");
      await at?.end(id);
    }
    expect(agents).toEqual(["coder", "writer", "coder", "writer", "coder", "writer"]);
  });

  test("what is urgent comes first", async () => {
    const { first, add, begun } = await opened({ fleet: 2 });
    await add("coder", 2);
    const [urgent] = await add("coder", 1, 5);
    const [soon] = await add("writer", 1, 3);
    await first.pass();
    await until(() => begun().length === 2);
    expect(begun().sort()).toEqual([urgent?.id, soon?.id].sort());
  });

  test("what could not be begun comes again", async () => {
    const { workers, add, begun, passes } = await opened();
    for (const worker of workers) worker.failures = 2;
    const [job] = await add("coder");
    await until(async () => {
      await passes();
      return begun().length > 0;
    });
    expect(begun()).toEqual([job?.id]);
  });

  test("whoever wants to cancel reaches the one who has the job, and nobody else", async () => {
    const { workers, first, add, begun } = await opened();
    await add("coder");
    const last = workers.at(-1);
    await last?.pass();
    await until(() => begun().length === 1);
    const [id = ""] = begun();
    const job = await first.state.jobs.get(id);
    if (!job || !last) throw new Error("there is no job");
    const isElsewhere = last !== first;
    expect(await last.queue.cancel(job, true)).toBe(false);
    expect(await first.queue.cancel(job, true)).toBe(isElsewhere);
    if (!isElsewhere) return;
    await until(() => last.cancelled.length > 0);
    expect(last.cancelled).toEqual([{ jobId: id, force: true }]);
    expect(workers.slice(0, -1).flatMap(({ cancelled }) => cancelled)).toEqual([]);
  });

  test("all others are told to read their configuration", async () => {
    const { workers, first } = await opened();
    await first.queue.reload();
    await until(() => workers.slice(1).every(({ reloads }) => reloads === 1));
    expect(first.reloads).toBe(0);
  });

  test("after its stop nobody is given anything", async () => {
    const { workers, first, add } = await opened();
    await Promise.all(workers.slice(1).map(({ queue }) => queue.stop()));
    first.limits = { ...first.limits, paused: new Set(["coder", "writer"]) };
    await add("coder", 3);
    await first.pass();
    await Promise.all(workers.map(({ queue }) => queue.stop()));
    await first.queue.stop();
    expect(workers.flatMap(({ begun }) => begun)).toEqual([]);
  });
});

describe("among nodes", { timeout: 60_000 }, () => {
  /** A node that decides and one that runs jobs, which hears of nothing but by its own looks. */
  async function pair(change: Partial<BossQueueOptions> = {}) {
    const store = await testDatabase();
    const [a, b] = [await joined("a", store, { capacity: 0 }), await joined("b", store)];
    const all = (await a.state.shared?.nodes.list()) ?? [];
    a.queue = bossQueue(a, store, all, change);
    b.queue = bossQueue(b, store, all, { mayHandOut: () => false });
    onTestFinished(async () => {
      await Promise.all([a.queue.stop(), b.queue.stop()]);
    });
    const { job } = await a.state.jobs.create({ agent: "coder", prompt: "hello" });
    const read = async () => (await a.state.jobs.get(job.id)) ?? job;
    return { a, b, job, read, store, all };
  }

  const mute = { start: async () => undefined, stop: async () => undefined };

  test("an order that was never sent: the node finds its job on record", async () => {
    const { a, b, job, read } = await pair({ carrier: { ...mute, send: async () => false } });
    await a.pass();
    expect(await read()).toMatchObject({ status: "pending", assigned: { node: "b", epoch: 1 } });
    await b.pass();
    expect(b.begun).toEqual([job.id]);
    expect(await read()).toMatchObject({ status: "running", node: "b", assigned: null });
  });

  test("an order that was never sent: whoever looks after two seconds sends it", async () => {
    let isDown = true;
    const sent: string[] = [];
    const send: OrderCarrier["send"] = async (node) => {
      if (!isDown) sent.push(node);
      return !isDown;
    };
    const { a, store, all } = await pair({ carrier: { ...mute, send } });
    await a.pass();
    isDown = false;
    await a.pass();
    expect(sent).toEqual([]);
    const c = await joined("c", store);
    c.queue = bossQueue(c, store, all, { carrier: { ...mute, send } });
    const later = new Date(Date.now() + 2_500);
    await c.queue.handOut(limits, later);
    await c.queue.handOut(limits, later);
    expect(sent).toEqual(["b"]);
  });

  test("what a node had not begun when it joined anew is handed out once more", async () => {
    const { a, b, job, read, store } = await pair({ carrier: { ...mute, send: async () => true } });
    await a.pass();
    const again = await joined("b", store);
    again.queue = bossQueue(again, store, [], { mayHandOut: () => false });
    await again.pass();
    await b.pass();
    expect([...again.begun, ...b.begun]).toEqual([]);
    await a.pass();
    expect(await read()).toMatchObject({ assigned: { node: "b", epoch: 2 } });
    await again.pass();
    expect(again.begun).toEqual([job.id]);
  });

  test("a node that is about to stop gives back what it is given", async () => {
    const { a, b, read } = await pair();
    await a.start();
    await b.queue.start({
      begin: async () => false,
      cancel: async () => undefined,
      reload: async () => undefined,
    });
    await a.pass();
    await until(async () => (await read()).assigned === null);
    expect(await read()).toMatchObject({ status: "pending", attempts: 0 });
  });

  test("one that has read another configuration is given nothing, and gives nothing", async () => {
    const { a, b, read } = await pair({ carrier: { ...mute, send: async () => true } });
    const beat = (configPrint: string) =>
      b.state.shared?.nodes.beat({ running: 0, sentAt: new Date(), configPrint, knows: [] });
    await b.pass();
    await beat("other");
    await a.pass();
    expect(await read()).toMatchObject({ assigned: null });
    await beat("print");
    await a.pass();
    expect(await read()).toMatchObject({ assigned: { node: "b" } });
  });

  test("a job that was cancelled before its node began it never begins", async () => {
    const { a, b, job, read } = await pair({ carrier: { ...mute, send: async () => true } });
    await a.pass();
    expect(await a.queue.cancel(await read(), false)).toBe(false);
    const outcome = { code: "cancelled" as const, message: "cancelled", hint: "" };
    await a.state.jobs.update(job.id, { status: "cancelled", outcome });
    await b.pass();
    expect(b.begun).toEqual([]);
    const by = { node: "b", epoch: 1 };
    expect(await b.state.jobs.startAttempt(job.id, {}, undefined, by)).toMatchObject({
      applied: false,
    });
  });
});
