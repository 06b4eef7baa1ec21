import { expect, it } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import {
  findNode,
  ownNodeId,
  releaseTool,
  startNode,
  startTwoNodesWithJob,
  toolWorkPeriods,
  waitForToolStarts,
} from "./start-nodes.ts";

await sharedPostgresAddress();
const testTimeoutMs = 180_000;

it(
  "settles the job of a killed node within 15 s and completes it on another",
  async () => {
    const harness = await startHarness({ mode: "obedient" });
    const store = await createTestDatabase();
    const { one, two, job } = await startTwoNodesWithJob(harness, store);
    const [first, second] = [await ownNodeId(one.control), await ownNodeId(two.control)];
    expect((await two.control.jobs.get(job.id))?.job.node).toBe(first);
    const killedAt = Date.now();
    await one.kill();

    const settled = await waitUntil(
      "the attempt to be settled",
      async () => (await two.control.jobs.get(job.id))?.attempts[0]?.finished_at ?? undefined,
      60_000,
    );
    expect(Date.parse(settled) - killedAt).toBeLessThan(15_000);
    await waitForToolStarts(harness, 2);
    releaseTool(harness);
    const ended = await two.control.jobs.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 2, node: second, crashes: 1 });
    const [before, after] = toolWorkPeriods(harness);
    expect(before?.to).toBeLessThan(after?.from ?? 0);
    expect(await findNode(two.control, "one")).toMatchObject({ status: "lost" });
    expect(await findNode(two.control, "two")).toMatchObject({ leader: true });
    expect(processesWithMarker(job.id)).toEqual([]);
    await two.stop();
  },
  testTimeoutMs,
);

it(
  "stops the work of a node that was paused for longer than its lease",
  async () => {
    const harness = await startHarness({ mode: "obedient" });
    const store = await createTestDatabase();
    const { one, two, job } = await startTwoNodesWithJob(harness, store);
    process.kill(one.pid, "SIGSTOP");
    await waitForToolStarts(harness, 2, 60_000);
    process.kill(one.pid, "SIGCONT");
    await waitUntil(
      "the paused node to join again",
      async () => (await findNode(two.control, "one"))?.status === "live",
      60_000,
    );
    releaseTool(harness);
    const ended = await two.control.jobs.wait(job.id);
    expect(ended).toMatchObject({
      status: "completed",
      attempts: 2,
      node: await ownNodeId(two.control),
    });
    const times = toolWorkPeriods(harness);
    expect(times).toHaveLength(2);
    expect(times[0]?.to).toBeLessThan(times[1]?.from ?? 0);
    // It has rejoined and works normally.
    expect((await one.control.jobs.get(job.id))?.job.status).toBe("completed");
    expect((await one.control.status()).fleet.problem).toBeNull();
    await Promise.all([one.stop(), two.stop()]);
  },
  testTimeoutMs,
);

it(
  "keeps the job of a node that is killed and restarted within its lease",
  async () => {
    const harness = await startHarness({ mode: "obedient" });
    const store = await createTestDatabase();
    const { one, two, job, file } = await startTwoNodesWithJob(harness, store);
    await one.kill();
    const again = await startNode(harness, file, { name: "one", store });
    releaseTool(harness);
    const ended = await two.control.jobs.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 1 });
    expect(toolWorkPeriods(harness)).toHaveLength(1);
    await Promise.all([again.stop(), two.stop()]);
  },
  testTimeoutMs,
);
