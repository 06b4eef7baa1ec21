import { expect, it } from "vitest";
import { until } from "../support/fleet-program.ts";
import { testDatabase, testServer } from "../support/postgres.ts";
import { processesWith } from "../support/processes.ts";
import { stage } from "../support/stage.ts";
import {
  begunTimes,
  idOf,
  letEnd,
  nodeNamed,
  startNode,
  timesAtWork,
  twoAtWork,
} from "./many-nodes.ts";

await testServer();
const long = 180_000;

it(
  "the job of a killed node is settled within 15 s and completes on another",
  async () => {
    const on = await stage({ mode: "obedient" });
    const store = await testDatabase();
    const { one, two, job } = await twoAtWork(on, store);
    const [first, second] = [await idOf(one.control), await idOf(two.control)];
    expect((await two.control.job(job.id))?.job.node).toBe(first);
    const killedAt = Date.now();
    await one.kill();

    const settled = await until(
      "the attempt to be settled",
      async () => (await two.control.job(job.id))?.attempts[0]?.finished_at ?? undefined,
      60_000,
    );
    expect(Date.parse(settled) - killedAt).toBeLessThan(15_000);
    await begunTimes(on, 2);
    letEnd(on);
    const ended = await two.control.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 2, node: second, crashes: 1 });
    const [before, after] = timesAtWork(on);
    expect(before?.to).toBeLessThan(after?.from ?? 0);
    expect(await nodeNamed(two.control, "one")).toMatchObject({ status: "lost" });
    expect(await nodeNamed(two.control, "two")).toMatchObject({ lead: true });
    expect(processesWith(job.id)).toEqual([]);
    await two.stop();
  },
  long,
);

it(
  "a node that was paused for longer than its lease does nothing more of its job when it wakes",
  async () => {
    const on = await stage({ mode: "obedient" });
    const store = await testDatabase();
    const { one, two, job } = await twoAtWork(on, store);
    process.kill(one.pid, "SIGSTOP");
    await begunTimes(on, 2, 60_000);
    process.kill(one.pid, "SIGCONT");
    await until(
      "the paused node to join again",
      async () => (await nodeNamed(two.control, "one"))?.status === "live",
      60_000,
    );
    letEnd(on);
    const ended = await two.control.wait(job.id);
    expect(ended).toMatchObject({
      status: "completed",
      attempts: 2,
      node: await idOf(two.control),
    });
    const times = timesAtWork(on);
    expect(times).toHaveLength(2);
    expect(times[0]?.to).toBeLessThan(times[1]?.from ?? 0);
    // It is a node like others again.
    expect((await one.control.job(job.id))?.job.status).toBe("completed");
    expect((await one.control.status()).fleet.problem).toBeNull();
    await Promise.all([one.stop(), two.stop()]);
  },
  long,
);

it(
  "a node that is killed and started again within its lease goes on with its job",
  async () => {
    const on = await stage({ mode: "obedient" });
    const store = await testDatabase();
    const { one, two, job, file } = await twoAtWork(on, store);
    await one.kill();
    const again = await startNode(on, file, { name: "one", store });
    letEnd(on);
    const ended = await two.control.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 1 });
    expect(timesAtWork(on)).toHaveLength(1);
    await Promise.all([again.stop(), two.stop()]);
  },
  long,
);
