import { expect, it, onTestFinished } from "vitest";
import { settleLostNode } from "../../packages/core/src/cluster/settle-lost-node.ts";
import type { JobServices } from "../../packages/core/src/jobs/services.ts";
import { EventHub } from "../../packages/core/src/lib/event-hub.ts";
import type { SharedStore } from "../../packages/core/src/store/contracts/shared-store.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import type { Job } from "../../packages/protocol/src/records/job.ts";
import { inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { createTestDatabase, queryDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

await sharedPostgresAddress();

it("settles the attempts of a lost node once, however many nodes try", async () => {
  const { one, two, address } = await openTwoNodes();
  const finished = await beginJob(one.state);
  const broken = await beginJob(one.state);
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
  await loseNode(address, two.shared, "one");

  const lost = { id: "one", epoch: 1 };
  const [a, b] = [jobServices(two.state), jobServices(two.state)];
  await Promise.all([settleLostNode(a, two.shared, lost), settleLostNode(b, two.shared, lost)]);
  expect(await settleLostNode(a, two.shared, lost)).toBe(true);
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
  expect((await two.state.jobs.listAttempts(broken.id))[0]).toMatchObject({ crashed: true });
  expect((await two.state.jobs.get(waiting.job.id))?.status).toBe("pending");
});

it("leaves attempts alone that a node started after it rejoined", async () => {
  const { one, two, address } = await openTwoNodes();
  await loseNode(address, two.shared, "one");
  await one.shared.nodes.join(newNode("one"), "secret");
  const job = await beginJob(one.state, 2);
  expect(await settleLostNode(jobServices(two.state), two.shared, { id: "one", epoch: 1 })).toBe(
    false,
  );
  expect((await two.state.jobs.get(job.id))?.status).toBe("running");
});

it("leaves the attempts of a live node alone", async () => {
  const { one, two } = await openTwoNodes();
  const job = await beginJob(one.state);
  expect(await settleLostNode(jobServices(two.state), two.shared, { id: "one", epoch: 1 })).toBe(
    false,
  );
  expect((await two.state.jobs.get(job.id))?.status).toBe("running");
});

async function openTwoNodes() {
  const address = await createTestDatabase();
  const [one, two] = [await openState(address), await openState(address)];
  await one.shared.nodes.join(newNode("one"), "secret");
  await two.shared.nodes.join(newNode("two"), "secret");
  return { one, two, address };
}

async function openState(store: string) {
  const state = await new StateManager(tempFolderWith({})).open({ store });
  onTestFinished(() => state.close());
  return { state, shared: state.shared ?? expect.fail("nothing is shared") };
}

/** Creates a job with a running attempt on the first node. */
async function beginJob(state: StateManager, epoch = 1): Promise<Job> {
  const { job } = await state.jobs.create({ agent: "one", prompt: "p" });
  const assigned = { node: "one", epoch, at: new Date().toISOString() };
  await state.jobs.update(job.id, { assigned });
  const by = { node: "one", epoch };
  const started = await state.jobs.startAttempt(job.id, { session_id: "s" }, undefined, by);
  expect(started.applied).toBe(true);
  return started.job;
}

async function loseNode(address: string, shared: SharedStore, id: string): Promise<void> {
  const sql = `UPDATE herdctl.nodes SET heartbeat_at = heartbeat_at - interval '11 s' WHERE id = $1`;
  await queryDatabase(address, sql, id);
  expect(await shared.nodes.markLost(id, 1)).toBe(true);
}

function newNode(id: string) {
  const known = { role: "all" as const, labels: [], capacity: 1, version: "1.0.0", address: null };
  return { id, name: id, config_hash: "print", ...known };
}

/** The part of a fleet that settling needs. */
function jobServices(state: StateManager): JobServices {
  const { fleet, environment } = loadTestFleet(inlineAgent("retry: { backoff: 200ms }"));
  const part = {
    state,
    hub: new EventHub(() => undefined),
    fleet: () => fleet,
    environment: () => environment,
    onAttemptEnded: async () => undefined,
  };
  return part as unknown as JobServices;
}
