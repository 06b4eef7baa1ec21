import { expect, it, onTestFinished } from "vitest";
import type {
  Heartbeat,
  JoinResult,
} from "../../packages/core/src/store/contracts/shared-store.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { reconcileSchedules } from "../../packages/core/src/triggers/schedules/reconcile-schedules.ts";
import { scheduleEntries } from "../../packages/core/src/triggers/schedules/schedule-entries.ts";
import type { NewNode } from "../../packages/protocol/src/records/node.ts";
import { fleetHeader, loadTestFleet } from "../support/fleet-config.ts";
import { createTestDatabase, queryDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

await sharedPostgresAddress();

it("raises the epoch on every join and refuses writes of the earlier process", async () => {
  const address = await createTestDatabase();
  const first = await openState(address);
  expect(await joinNode(first, "one")).toMatchObject({ node: { epoch: 1, status: "live" } });
  await first.pauses.pause("agent:a", "operator", "before");

  const second = await openState(address);
  expect(await joinNode(second, "one")).toMatchObject({ node: { epoch: 2 }, wasStillLive: true });
  const late = first.pauses.pause("agent:b", "operator", "late");
  await expect(late).rejects.toMatchObject({ code: "node_fenced" });
  await expect(sendHeartbeat(first)).rejects.toMatchObject({ code: "node_fenced" });
  await sendHeartbeat(second);
  expect(await second.pauses.list()).toHaveLength(1);
});

it("declares a node lost once by the database clock and refuses its writes", async () => {
  const address = await createTestDatabase();
  const [one, other] = [await openState(address), await openState(address)];
  await joinNode(one, "one");
  await joinNode(other, "other");
  expect(await other.shared?.nodes.markLost("one", 1)).toBe(false);
  await silenceNode(address, "one", 11);
  expect(await other.shared?.nodes.markLost("one", 2)).toBe(false);
  const both = [0, 1].map(() => other.shared?.nodes.markLost("one", 1));
  expect((await Promise.all(both)).sort()).toEqual([false, true]);
  await expect(sendHeartbeat(one)).rejects.toMatchObject({ code: "node_fenced" });
  const late = one.pauses.pause("agent:a", "operator", "late");
  await expect(late).rejects.toMatchObject({ code: "node_fenced" });
  // It is back with another epoch and no longer owns its earlier jobs.
  expect(await joinNode(one, "one")).toMatchObject({ node: { epoch: 2 }, wasStillLive: false });
  await one.pauses.pause("agent:a", "operator", "in time");
});

it("completes a write before the node is declared lost, or refuses it", async () => {
  const address = await createTestDatabase();
  const [one, other] = [await openState(address), await openState(address)];
  await joinNode(one, "one");
  await joinNode(other, "other");
  await silenceNode(address, "one", 11);
  const writes = Array.from({ length: 20 }, (_, index) =>
    one.pauses.pause(`agent:a${index}`, "operator", "m").catch(() => undefined),
  );
  await other.shared?.nodes.markLost("one", 1);
  const atThatTime = (await other.pauses.list()).length;
  await Promise.all(writes);
  expect((await other.pauses.list()).length).toBe(atThatTime);
});

it("makes the first eligible node the leader, and the next one when it leaves", async () => {
  const address = await createTestDatabase();
  const [worker, one, two] = [
    await openState(address),
    await openState(address),
    await openState(address),
  ];
  await joinNode(worker, "worker", { role: "worker" });
  await joinNode(one, "one", { role: "control" });
  await joinNode(two, "two");
  expect(await currentLeaders(two)).toEqual(["one"]);
  await one.shared?.nodes.leave();
  expect(await currentLeaders(two)).toEqual(["two"]);
  await joinNode(one, "one");
  expect(await currentLeaders(two)).toEqual(["two"]);
  await silenceNode(address, "two", 11);
  await worker.shared?.nodes.markLost("two", 1);
  expect(await currentLeaders(worker)).toEqual(["one"]);
});

it("refuses a node with another configuration while others run", async () => {
  const address = await createTestDatabase();
  const [one, other] = [await openState(address), await openState(address)];
  await joinNode(one, "one");
  const refused = await other.shared?.nodes.join(newNode("other", { config_hash: "new" }), "s");
  expect(refused).toEqual({ kind: "other_config", configHash: "print", nodes: ["one"] });
  await one.shared?.nodes.setConfigHash("new");
  expect(await joinNode(other, "other", { config_hash: "new" })).toMatchObject({ kind: "joined" });
  await one.shared?.nodes.leave();
  await other.shared?.nodes.leave();
  expect(await joinNode(one, "one", { config_hash: "newer" })).toMatchObject({ kind: "joined" });
});

it("starts a schedule at the time of the first node that records it", async () => {
  const address = await createTestDatabase();
  const [one, other] = [await openState(address), await openState(address)];
  const schedule = { agent: "a", schedule: "s" };
  const plan = { type: "interval", every: 7_000 };
  const [first, later] = [new Date("2026-01-01T00:00:00.000Z"), new Date("2026-01-01T00:00:00.1Z")];
  const begun = [{ ...schedule, plan }];
  await one.schedules.applyPlanChange({ removed: [], added: begun }, first);
  await other.schedules.applyPlanChange({ removed: [], added: begun }, later);
  expect(await one.schedules.getCursor(schedule)).toMatchObject({ since: first.toISOString() });

  const ended = [{ entry: { ...schedule, plan }, missed: [] }];
  const changed = [{ ...schedule, plan: { ...plan, every: 8_000 } }];
  const [third, last] = [
    new Date("2026-01-01T00:01:00.000Z"),
    new Date("2026-01-01T00:01:01.000Z"),
  ];
  await other.schedules.applyPlanChange({ removed: ended, added: changed }, third);
  await one.schedules.applyPlanChange({ removed: ended, added: changed }, last);
  expect(await one.schedules.getCursor(schedule)).toMatchObject({ since: third.toISOString() });
});

it("ignores the schedules of a configuration that is not in force", async () => {
  const address = await createTestDatabase();
  const [one, other] = [await openState(address), await openState(address)];
  await joinNode(one, "one", { config_hash: "old" });
  await joinNode(other, "other", { config_hash: "old" });
  await one.shared?.nodes.setConfigHash("new");
  const now = new Date("2026-01-01T00:00:00.000Z");
  const file = (schedules: string) =>
    loadTestFleet({
      "herdctl.yaml": `${fleetHeader}agents: [{ name: a, default_prompt: x, schedules: ${schedules} }]\n`,
    }).fleet;
  const [rolledOut, older] = [
    scheduleEntries(file("{ s: { type: interval, every: 7s } }"), []),
    scheduleEntries(file("{ t: { type: interval, every: 7s } }"), []),
  ];
  expect(await reconcileSchedules(one, rolledOut, now, "new")).toHaveLength(1);
  expect(await reconcileSchedules(other, older, now, "old")).toEqual([]);
  expect(await one.schedules.listCursors()).toMatchObject([{ schedule: "s" }]);
  await other.shared?.nodes.setConfigHash("old");
  expect(await reconcileSchedules(other, older, now, "old")).toHaveLength(1);
  expect(await one.schedules.listCursors()).toMatchObject([{ schedule: "t" }]);
});

it("keeps a node live while it has unfinished work", async () => {
  const address = await createTestDatabase();
  const one = await openState(address);
  await joinNode(one, "one");
  const { job } = await one.jobs.create({ agent: "a", prompt: "p" });
  await one.jobs.startAttempt(job.id, { node: "one" });
  const status = async () => (await one.shared?.nodes.list())?.[0]?.status;
  await one.shared?.nodes.leave();
  expect(await status()).toBe("live");
  const end = { outcome_code: "success" as const, session_id: null, cost_usd: null };
  await one.jobs.endAttempt(job.id, 1, end, { status: "completed", outcome: successOutcome });
  await one.shared?.nodes.leave();
  expect(await status()).toBe("left");
});

it("gives all nodes the secret of the first", async () => {
  const address = await createTestDatabase();
  const [one, other] = [await openState(address), await openState(address)];
  expect(await joinNode(one, "one", {}, "first")).toMatchObject({ secret: "first" });
  expect(await joinNode(other, "other", {}, "second")).toMatchObject({ secret: "first" });
});

it("returns the list of nodes and the clock offset with a heartbeat", async () => {
  const address = await createTestDatabase();
  const [one, other] = [await openState(address), await openState(address)];
  await joinNode(one, "one", { labels: ["gpu"] });
  await joinNode(other, "other");
  await sendHeartbeat(other, { running: 3, configHash: "another" });
  await sendHeartbeat(other);
  const answer = await sendHeartbeat(one, { running: 2 });
  expect(answer.configHash).toBe("print");
  expect(answer.nodes).toMatchObject([
    { id: "one", labels: ["gpu"], running: 2, leader: true },
    { id: "other", running: 0, leader: false },
  ]);
  const skew = answer.nodes[1]?.clock_skew_ms;
  expect(Math.abs(skew ?? Number.NaN)).toBeLessThan(2_000);
});

it("records known peers with each heartbeat and clears them on a new join", async () => {
  const state = await openState(await createTestDatabase());
  await joinNode(state, "one");
  const knownNow = async () => (await state.shared?.nodes.list())?.[0]?.known_peers;
  expect(await knownNow()).toEqual([]);
  await sendHeartbeat(state, { knownPeers: ["two db:1"] });
  expect(await knownNow()).toEqual(["two db:1"]);
  await joinNode(state, "one");
  expect(await knownNow()).toEqual([]);
});

it("does not block a heartbeat behind writers", async () => {
  const address = await createTestDatabase();
  const one = await openState(address);
  await joinNode(one, "one");
  const { default: pg } = await import("pg");
  const writer = new pg.Client({ connectionString: address });
  await writer.connect();
  onTestFinished(() => writer.end());
  await writer.query("BEGIN");
  await writer.query("SELECT herdctl.begin_write(NULL, NULL)");
  await sendHeartbeat(one);
  await writer.query("ROLLBACK");
});

it("stores a log in pieces, each once, and reads it from any offset", async () => {
  const address = await createTestDatabase();
  const state = await openState(address);
  await joinNode(state, "one");
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

const successOutcome = { code: "success" as const, message: "m", hint: "h" };

async function openState(store: string): Promise<StateManager> {
  const state = await new StateManager(tempFolderWith({})).open({ store });
  onTestFinished(() => state.close());
  return state;
}

function newNode(id: string, more: Partial<NewNode> = {}): NewNode {
  const known = { role: "all" as const, labels: [], capacity: 1, version: "1.0.0", address: null };
  return { id, name: id, config_hash: "print", ...known, ...more };
}

async function joinNode(
  state: StateManager,
  id: string,
  more: Partial<NewNode> = {},
  secret = "secret",
): Promise<JoinResult> {
  const answer = await state.shared?.nodes.join(newNode(id, more), secret);
  return answer ?? expect.fail("nothing is shared");
}

async function sendHeartbeat(state: StateManager, more: Partial<Heartbeat> = {}) {
  const answer = state.shared?.nodes.heartbeat({
    running: 0,
    configHash: "print",
    sentAt: new Date(),
    knownPeers: [],
    ...more,
  });
  return (await answer) ?? expect.fail("nothing is shared");
}

async function currentLeaders(state: StateManager): Promise<string[]> {
  const nodes = (await state.shared?.nodes.list()) ?? [];
  return nodes.filter(({ leader: isLeader }) => isLeader).map(({ id }) => id);
}

/** Backdates the node's last heartbeat by this many seconds. */
async function silenceNode(address: string, id: string, seconds: number): Promise<void> {
  const sql = `UPDATE herdctl.nodes
               SET heartbeat_at = heartbeat_at - $2 * interval '1 second' WHERE id = $1`;
  await queryDatabase(address, sql, id, seconds);
}
