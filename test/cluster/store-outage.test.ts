import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import {
  createTestDatabase,
  sharedPostgresAddress,
  startPrivatePostgres,
} from "../support/postgres.ts";
import { proxiedAddress, startTcpProxy } from "../support/tcp-proxy.ts";
import {
  findNode,
  manualTrigger,
  nodeFile,
  ownNodeId,
  releaseTool,
  startJobOn,
  startNode,
  startTwoNodesWithJob,
  toolWorkPeriods,
  waitForToolStarts,
} from "./start-nodes.ts";

const sharedServer = await sharedPostgresAddress();
const testTimeoutMs = 240_000;

it(
  "keeps running jobs, refuses new work and loses no node during a store outage of 30 s",
  async () => {
    const harness = await startHarness({ mode: "obedient" });
    const server = await startPrivatePostgres();
    const { address: store } = server;
    const { one, two, job } = await startTwoNodesWithJob(harness, store);
    await server.stop();
    const stoppedAt = Date.now();
    const refused = two.control.jobs.trigger({ ...manualTrigger, prompt: "hello" });
    await expect(refused).rejects.toMatchObject({ code: "state_unavailable" });
    await delay(30_000 - (Date.now() - stoppedAt));
    await server.start();
    await waitUntil(
      "the nodes to be well again",
      async () => {
        const states = await Promise.all([one, two].map(({ control }) => control.status()));
        return states.every(({ fleet }) => fleet.problem === null);
      },
      60_000,
    );
    // Longer than it takes to declare a node lost.
    await delay(12_000);
    releaseTool(harness);
    const ended = await two.control.jobs.wait(job.id);
    expect(ended).toMatchObject({
      status: "completed",
      attempts: 1,
      node: await ownNodeId(one.control),
    });
    expect(toolWorkPeriods(harness)).toHaveLength(1);
    const statuses = (await two.control.nodes.list()).map(({ status }) => status);
    expect(statuses).toEqual(["live", "live"]);
    await Promise.all([one.stop(), two.stop()]);
  },
  testTimeoutMs,
);

it(
  "stops a node behind a half-open connection before another takes its job",
  async () => {
    const harness = await startHarness({ mode: "obedient" });
    const store = await createTestDatabase();
    const proxy = await startTcpProxy(Number(new URL(sharedServer).port));
    const { one, two, job } = await startTwoNodesWithJob(
      harness,
      store,
      proxiedAddress(proxy, store),
    );
    proxy.silence();
    await waitForToolStarts(harness, 2, 60_000);
    releaseTool(harness);
    const ended = await two.control.jobs.wait(job.id);
    expect(ended).toMatchObject({
      status: "completed",
      attempts: 2,
      node: await ownNodeId(two.control),
    });
    const [before, after] = toolWorkPeriods(harness);
    expect(before?.to).toBeLessThan(after?.from ?? 0);
    await proxy.restore();
    await waitUntil(
      "it to join again",
      async () => (await findNode(two.control, "one"))?.status === "live",
      60_000,
    );
    expect(toolWorkPeriods(harness)).toHaveLength(2);
    await Promise.all([one.stop(), two.stop()]);
  },
  testTimeoutMs,
);

it(
  "stops a lone node behind a half-open connection when a joining node asks it",
  async () => {
    const harness = await startHarness({ mode: "obedient" });
    const store = await createTestDatabase();
    const proxy = await startTcpProxy(Number(new URL(sharedServer).port));
    const one = await startNode(harness, nodeFile(harness), {
      name: "one",
      store: proxiedAddress(proxy, store),
    });
    const job = await startJobOn(harness, one);
    proxy.silence();
    // Longer than its lease: it continues because it knows no peer.
    await delay(12_000);
    expect(toolWorkPeriods(harness)).toMatchObject([
      { gap: expect.toSatisfy((gap) => gap < 5_000) },
    ]);
    const lastWorkAt = toolWorkPeriods(harness)[0]?.to ?? 0;
    expect(Date.now() - lastWorkAt).toBeLessThan(5_000);

    const two = await startNode(harness, nodeFile(harness), { name: "two", store });
    await waitForToolStarts(harness, 2, 60_000);
    releaseTool(harness);
    const ended = await two.control.jobs.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", node: await ownNodeId(two.control) });
    const [before, after] = toolWorkPeriods(harness);
    expect(before?.to).toBeLessThan(after?.from ?? 0);
    await proxy.restore();
    await Promise.all([one.stop(), two.stop()]);
  },
  testTimeoutMs,
);
