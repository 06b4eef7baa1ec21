import { expect, it, onTestFinished } from "vitest";
import { bringUpToDate } from "../../packages/core/src/fleet/plan-book.ts";
import { timedEntries } from "../../packages/core/src/fleet/timetable.ts";
import type { NewNode } from "../../packages/core/src/state/node.ts";
import type { Beat, Joined } from "../../packages/core/src/state/shared.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { fleetHead, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { ask, testDatabase, testServer } from "../support/postgres.ts";

await testServer();

it("every join raises the epoch, and what an earlier process of the node writes is refused", async () => {
  const address = await testDatabase();
  const first = await opened(address);
  expect(await joined(first, "one")).toMatchObject({ node: { epoch: 1, status: "live" } });
  await first.pauses.pause("agent:a", "operator", "before");

  const second = await opened(address);
  expect(await joined(second, "one")).toMatchObject({ node: { epoch: 2 }, unbroken: true });
  const late = first.pauses.pause("agent:b", "operator", "late");
  await expect(late).rejects.toMatchObject({ code: "node_fenced" });
  await expect(beat(first)).rejects.toMatchObject({ code: "node_fenced" });
  await beat(second);
  expect(await second.pauses.list()).toHaveLength(1);
});

it("a node is lost by the clock of the database, once, and its writes are refused", async () => {
  const address = await testDatabase();
  const [one, other] = [await opened(address), await opened(address)];
  await joined(one, "one");
  await joined(other, "other");
  expect(await other.shared?.nodes.lose("one", 1)).toBe(false);
  await goSilent(address, "one", 11);
  expect(await other.shared?.nodes.lose("one", 2)).toBe(false);
  const both = [0, 1].map(() => other.shared?.nodes.lose("one", 1));
  expect((await Promise.all(both)).sort()).toEqual([false, true]);
  await expect(beat(one)).rejects.toMatchObject({ code: "node_fenced" });
  const late = one.pauses.pause("agent:a", "operator", "late");
  await expect(late).rejects.toMatchObject({ code: "node_fenced" });
  // Back again, with another epoch; what it left is not its own any more.
  expect(await joined(one, "one")).toMatchObject({ node: { epoch: 2 }, unbroken: false });
  await one.pauses.pause("agent:a", "operator", "in time");
});

it("who is paused while it writes has written before it is called lost, or not at all", async () => {
  const address = await testDatabase();
  const [one, other] = [await opened(address), await opened(address)];
  await joined(one, "one");
  await joined(other, "other");
  await goSilent(address, "one", 11);
  const writes = Array.from({ length: 20 }, (_, index) =>
    one.pauses.pause(`agent:a${index}`, "operator", "m").catch(() => undefined),
  );
  await other.shared?.nodes.lose("one", 1);
  const atThatTime = (await other.pauses.list()).length;
  await Promise.all(writes);
  expect((await other.pauses.list()).length).toBe(atThatTime);
});

it("the lead is the first of those that may, and leaves its place to the next", async () => {
  const address = await testDatabase();
  const [worker, one, two] = [await opened(address), await opened(address), await opened(address)];
  await joined(worker, "worker", { role: "worker" });
  await joined(one, "one", { role: "control" });
  await joined(two, "two");
  expect(await leads(two)).toEqual(["one"]);
  await one.shared?.nodes.leave();
  expect(await leads(two)).toEqual(["two"]);
  await joined(one, "one");
  expect(await leads(two)).toEqual(["two"]);
  await goSilent(address, "two", 11);
  await worker.shared?.nodes.lose("two", 1);
  expect(await leads(worker)).toEqual(["one"]);
});

it("a node with another configuration is refused while others run", async () => {
  const address = await testDatabase();
  const [one, other] = [await opened(address), await opened(address)];
  await joined(one, "one");
  const refused = await other.shared?.nodes.join(newNode("other", { config_print: "new" }), "s");
  expect(refused).toEqual({ kind: "other_config", print: "print", nodes: ["one"] });
  await one.shared?.nodes.rollOut("new");
  expect(await joined(other, "other", { config_print: "new" })).toMatchObject({ kind: "joined" });
  await one.shared?.nodes.leave();
  await other.shared?.nodes.leave();
  expect(await joined(one, "one", { config_print: "newer" })).toMatchObject({ kind: "joined" });
});

it("a schedule that two nodes find new begins when the first of them says so", async () => {
  const address = await testDatabase();
  const [one, other] = [await opened(address), await opened(address)];
  const schedule = { agent: "a", schedule: "s" };
  const plan = { type: "interval", every: 7_000 };
  const [first, later] = [new Date("2026-01-01T00:00:00.000Z"), new Date("2026-01-01T00:00:00.1Z")];
  const begun = [{ ...schedule, plan }];
  await one.schedules.change({ ended: [], begun }, first);
  await other.schedules.change({ ended: [], begun }, later);
  expect(await one.schedules.mark(schedule)).toMatchObject({ since: first.toISOString() });

  const ended = [{ mark: { ...schedule, plan }, missed: [] }];
  const changed = [{ ...schedule, plan: { ...plan, every: 8_000 } }];
  const [third, last] = [
    new Date("2026-01-01T00:01:00.000Z"),
    new Date("2026-01-01T00:01:01.000Z"),
  ];
  await other.schedules.change({ ended, begun: changed }, third);
  await one.schedules.change({ ended, begun: changed }, last);
  expect(await one.schedules.mark(schedule)).toMatchObject({ since: third.toISOString() });
});

it("what a configuration plans that is not in force changes nothing", async () => {
  const address = await testDatabase();
  const [one, other] = [await opened(address), await opened(address)];
  await joined(one, "one", { config_print: "old" });
  await joined(other, "other", { config_print: "old" });
  await one.shared?.nodes.rollOut("new");
  const now = new Date("2026-01-01T00:00:00.000Z");
  const file = (schedules: string) =>
    load({
      "herdctl.yaml": `${fleetHead}agents: [{ name: a, default_prompt: x, schedules: ${schedules} }]\n`,
    }).fleet;
  const [rolledOut, older] = [
    timedEntries(file("{ s: { type: interval, every: 7s } }"), []),
    timedEntries(file("{ t: { type: interval, every: 7s } }"), []),
  ];
  expect(await bringUpToDate(one, rolledOut, now, "new")).toHaveLength(1);
  expect(await bringUpToDate(other, older, now, "old")).toEqual([]);
  expect(await one.schedules.marks()).toMatchObject([{ schedule: "s" }]);
  await other.shared?.nodes.rollOut("old");
  expect(await bringUpToDate(other, older, now, "old")).toHaveLength(1);
  expect(await one.schedules.marks()).toMatchObject([{ schedule: "t" }]);
});

it("a node does not leave while something that it began is open", async () => {
  const address = await testDatabase();
  const one = await opened(address);
  await joined(one, "one");
  const { job } = await one.jobs.create({ agent: "a", prompt: "p" });
  await one.jobs.startAttempt(job.id, { node: "one" });
  const status = async () => (await one.shared?.nodes.list())?.[0]?.status;
  await one.shared?.nodes.leave();
  expect(await status()).toBe("live");
  const end = { outcome_code: "success" as const, session_id: null, cost_usd: null };
  await one.jobs.endAttempt(job.id, 1, end, { status: "completed", outcome: done });
  await one.shared?.nodes.leave();
  expect(await status()).toBe("left");
});

it("all nodes know the first one's secret", async () => {
  const address = await testDatabase();
  const [one, other] = [await opened(address), await opened(address)];
  expect(await joined(one, "one", {}, "first")).toMatchObject({ secret: "first" });
  expect(await joined(other, "other", {}, "second")).toMatchObject({ secret: "first" });
});

it("a beat tells who is there, and how far a clock is off", async () => {
  const address = await testDatabase();
  const [one, other] = [await opened(address), await opened(address)];
  await joined(one, "one", { labels: ["gpu"] });
  await joined(other, "other");
  await beat(other, { running: 3, configPrint: "another" });
  await beat(other);
  const answer = await beat(one, { running: 2 });
  expect(answer.configPrint).toBe("print");
  expect(answer.nodes).toMatchObject([
    { id: "one", labels: ["gpu"], running: 2, lead: true },
    { id: "other", running: 0, lead: false },
  ]);
  const skew = answer.nodes[1]?.skew_ms;
  expect(Math.abs(skew ?? Number.NaN)).toBeLessThan(2_000);
});

it("whom a node knows is on record from its next beat on, and forgotten when it joins anew", async () => {
  const state = await opened(await testDatabase());
  await joined(state, "one");
  const knownNow = async () => (await state.shared?.nodes.list())?.[0]?.knows;
  expect(await knownNow()).toEqual([]);
  await beat(state, { knows: ["two db:1"] });
  expect(await knownNow()).toEqual(["two db:1"]);
  await joined(state, "one");
  expect(await knownNow()).toEqual([]);
});

it("a beat does not wait for those who write", async () => {
  const address = await testDatabase();
  const one = await opened(address);
  await joined(one, "one");
  const { default: pg } = await import("pg");
  const writer = new pg.Client({ connectionString: address });
  await writer.connect();
  onTestFinished(() => writer.end());
  await writer.query("BEGIN");
  await writer.query("SELECT herdctl.begin_write(NULL, NULL)");
  await beat(one);
  await writer.query("ROLLBACK");
});

it("a log is kept in pieces, each once, and read from anywhere", async () => {
  const address = await testDatabase();
  const state = await opened(address);
  await joined(state, "one");
  const { job } = await state.jobs.create({ agent: "a", prompt: "p" });
  const outputs = state.shared?.outputs ?? expect.fail("nothing is shared");
  expect(await outputs.size(job.id)).toBe(0);
  await outputs.append(job.id, 0, "grün\n");
  await outputs.append(job.id, 6, "rot\n");
  await outputs.append(job.id, 0, "another\n");
  expect(await outputs.size(job.id)).toBe(10);
  expect(await outputs.read(job.id, 0)).toEqual([
    { from: 0, text: "grün\n" },
    { from: 6, text: "rot\n" },
  ]);
  expect(await outputs.read(job.id, 4)).toEqual([
    { from: 4, text: "n\n" },
    { from: 6, text: "rot\n" },
  ]);
  expect(await outputs.read(job.id, 6)).toEqual([{ from: 6, text: "rot\n" }]);
  expect(await outputs.read(job.id, 10)).toEqual([]);
  await outputs.append("job-2026-01-01-none", 0, "nobody's\n");
  expect(await outputs.size("job-2026-01-01-none")).toBe(0);
});

const done = { code: "success" as const, message: "m", hint: "h" };

async function opened(store: string): Promise<StateManager> {
  const state = await new StateManager(folderWith({})).open({ store });
  onTestFinished(() => state.close());
  return state;
}

function newNode(id: string, more: Partial<NewNode> = {}): NewNode {
  const known = { role: "all" as const, labels: [], capacity: 1, version: "1.0.0", address: null };
  return { id, name: id, config_print: "print", ...known, ...more };
}

async function joined(
  state: StateManager,
  id: string,
  more: Partial<NewNode> = {},
  secret = "secret",
): Promise<Joined> {
  const answer = await state.shared?.nodes.join(newNode(id, more), secret);
  return answer ?? expect.fail("nothing is shared");
}

async function beat(state: StateManager, more: Partial<Beat> = {}) {
  const answer = state.shared?.nodes.beat({
    running: 0,
    configPrint: "print",
    sentAt: new Date(),
    knows: [],
    ...more,
  });
  return (await answer) ?? expect.fail("nothing is shared");
}

async function leads(state: StateManager): Promise<string[]> {
  const nodes = (await state.shared?.nodes.list()) ?? [];
  return nodes.filter(({ lead }) => lead).map(({ id }) => id);
}

/** As if so many seconds had passed since its last beat. */
async function goSilent(address: string, id: string, seconds: number): Promise<void> {
  const sql = `UPDATE herdctl.nodes
               SET heartbeat_at = heartbeat_at - $2 * interval '1 second' WHERE id = $1`;
  await ask(address, sql, id, seconds);
}
