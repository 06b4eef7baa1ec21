import { expect, it, onTestFinished } from "vitest";
import type { FleetContext } from "../../packages/core/src/fleet/context.ts";
import { EventHub } from "../../packages/core/src/fleet/event-hub.ts";
import { settleLost } from "../../packages/core/src/fleet/nodes/settle-lost.ts";
import type { Job } from "../../packages/core/src/state/job.ts";
import type { SharedStore } from "../../packages/core/src/state/shared.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { inlineAgent, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { ask, testDatabase, testServer } from "../support/postgres.ts";

await testServer();

it("a lost node's attempts are settled once, whoever does it and however often", async () => {
  const { one, two, address } = await twoNodes();
  const finished = await begun(one.state);
  const broken = await begun(one.state);
  const waiting = await one.state.jobs.create({ agent: "one", prompt: "later" });
  const at = new Date(Date.now() + 1_000).toISOString();
  const result = { type: "result", subtype: "success", is_error: false, result: "Done." };
  const log = [
    { type: "system", subtype: "init", session_id: "s", herdctl_at: at },
    { ...result, num_turns: 1, total_cost_usd: 0.1, modelUsage: {}, herdctl_at: at },
  ];
  await one.shared.outputs.append(
    finished.id,
    0,
    log.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  await lose(address, two.shared, "one");

  const lost = { id: "one", epoch: 1 };
  const [a, b] = [contextOf(two.state), contextOf(two.state)];
  await Promise.all([settleLost(a, two.shared, lost), settleLost(b, two.shared, lost)]);
  expect(await settleLost(a, two.shared, lost)).toBe(true);
  expect(await two.state.jobs.get(finished.id)).toMatchObject({
    status: "completed",
    summary: "Done.",
    cost_usd: 0.1,
  });
  expect(await two.state.jobs.get(broken.id)).toMatchObject({
    status: "waiting",
    outcome: { code: "interrupted" },
    crashes: 1,
  });
  expect((await two.state.jobs.attempts(broken.id))[0]).toMatchObject({ crashed: true });
  expect((await two.state.jobs.get(waiting.job.id))?.status).toBe("pending");
});

it("what a node began since it came back is its own matter", async () => {
  const { one, two, address } = await twoNodes();
  await lose(address, two.shared, "one");
  await one.shared.nodes.join(newNode("one"), "secret");
  const job = await begun(one.state, 2);
  expect(await settleLost(contextOf(two.state), two.shared, { id: "one", epoch: 1 })).toBe(false);
  expect((await two.state.jobs.get(job.id))?.status).toBe("running");
});

it("what runs on a node that lives is left alone", async () => {
  const { one, two } = await twoNodes();
  const job = await begun(one.state);
  expect(await settleLost(contextOf(two.state), two.shared, { id: "one", epoch: 1 })).toBe(false);
  expect((await two.state.jobs.get(job.id))?.status).toBe("running");
});

async function twoNodes() {
  const address = await testDatabase();
  const [one, two] = [await opened(address), await opened(address)];
  await one.shared.nodes.join(newNode("one"), "secret");
  await two.shared.nodes.join(newNode("two"), "secret");
  return { one, two, address };
}

async function opened(store: string) {
  const state = await new StateManager(folderWith({})).open({ store });
  onTestFinished(() => state.close());
  return { state, shared: state.shared ?? expect.fail("nothing is shared") };
}

/** A job with an attempt under way on the first node. */
async function begun(state: StateManager, epoch = 1): Promise<Job> {
  const { job } = await state.jobs.create({ agent: "one", prompt: "p" });
  const assigned = { node: "one", epoch, at: new Date().toISOString() };
  await state.jobs.update(job.id, { assigned });
  const by = { node: "one", epoch };
  const started = await state.jobs.startAttempt(job.id, { session_id: "s" }, undefined, by);
  expect(started.applied).toBe(true);
  return started.job;
}

async function lose(address: string, shared: SharedStore, id: string): Promise<void> {
  const sql = `UPDATE herdctl.nodes SET heartbeat_at = heartbeat_at - interval '11 s' WHERE id = $1`;
  await ask(address, sql, id);
  expect(await shared.nodes.lose(id, 1)).toBe(true);
}

function newNode(id: string) {
  const known = { role: "all" as const, labels: [], capacity: 1, version: "1.0.0", address: null };
  return { id, name: id, config_print: "print", ...known };
}

/** As much of a fleet as settling needs. */
function contextOf(state: StateManager): FleetContext {
  const { fleet, environment } = load(inlineAgent("retry: { backoff: 200ms }"));
  const part = {
    state,
    hub: new EventHub(() => undefined),
    fleet: () => fleet,
    environment: () => environment,
    concluded: async () => undefined,
  };
  return part as unknown as FleetContext;
}
