import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { until } from "../support/fleet-program.ts";
import { ownPostgres, testDatabase, testServer } from "../support/postgres.ts";
import { proxyTo, through } from "../support/proxy.ts";
import { stage } from "../support/stage.ts";
import {
  begunTimes,
  idOf,
  jobAtWork,
  letEnd,
  manual,
  nodeFile,
  nodeNamed,
  startNode,
  timesAtWork,
  twoAtWork,
} from "./many-nodes.ts";

const shared = await testServer();
const long = 240_000;

it(
  "the store is away for 30 s: what runs goes on, new work is refused, nobody is lost",
  async () => {
    const on = await stage({ mode: "obedient" });
    const server = await ownPostgres();
    const { address: store } = server;
    const { one, two, job } = await twoAtWork(on, store);
    await server.stop();
    const stoppedAt = Date.now();
    const refused = two.control.trigger({ ...manual, prompt: "hello" });
    await expect(refused).rejects.toMatchObject({ code: "state_unavailable" });
    await delay(30_000 - (Date.now() - stoppedAt));
    await server.start();
    await until(
      "the nodes to be well again",
      async () => {
        const states = await Promise.all([one, two].map(({ control }) => control.status()));
        return states.every(({ fleet }) => fleet.problem === null);
      },
      60_000,
    );
    // Longer than it takes to call somebody lost.
    await delay(12_000);
    letEnd(on);
    const ended = await two.control.wait(job.id);
    expect(ended).toMatchObject({
      status: "completed",
      attempts: 1,
      node: await idOf(one.control),
    });
    expect(timesAtWork(on)).toHaveLength(1);
    const statuses = (await two.control.nodes()).map(({ status }) => status);
    expect(statuses).toEqual(["live", "live"]);
    await Promise.all([one.stop(), two.stop()]);
  },
  long,
);

it(
  "a node whose line to the store is half open has stopped before another begins its job",
  async () => {
    const on = await stage({ mode: "obedient" });
    const store = await testDatabase();
    const proxy = await proxyTo(Number(new URL(shared).port));
    const { one, two, job } = await twoAtWork(on, store, through(proxy, store));
    proxy.silence();
    await begunTimes(on, 2, 60_000);
    letEnd(on);
    const ended = await two.control.wait(job.id);
    expect(ended).toMatchObject({
      status: "completed",
      attempts: 2,
      node: await idOf(two.control),
    });
    const [before, after] = timesAtWork(on);
    expect(before?.to).toBeLessThan(after?.from ?? 0);
    await proxy.restore();
    await until(
      "it to join again",
      async () => (await nodeNamed(two.control, "one"))?.status === "live",
      60_000,
    );
    expect(timesAtWork(on)).toHaveLength(2);
    await Promise.all([one.stop(), two.stop()]);
  },
  long,
);

it(
  "a node that was alone behind a half-open line stops for one that joins and tells it so",
  async () => {
    const on = await stage({ mode: "obedient" });
    const store = await testDatabase();
    const proxy = await proxyTo(Number(new URL(shared).port));
    const one = await startNode(on, nodeFile(on), { name: "one", store: through(proxy, store) });
    const job = await jobAtWork(on, one);
    proxy.silence();
    // Longer than its lease: it goes on, since it knows of nobody.
    await delay(12_000);
    expect(timesAtWork(on)).toMatchObject([{ gap: expect.toSatisfy((gap) => gap < 5_000) }]);
    const goesOn = timesAtWork(on)[0]?.to ?? 0;
    expect(Date.now() - goesOn).toBeLessThan(5_000);

    const two = await startNode(on, nodeFile(on), { name: "two", store });
    await begunTimes(on, 2, 60_000);
    letEnd(on);
    const ended = await two.control.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", node: await idOf(two.control) });
    const [before, after] = timesAtWork(on);
    expect(before?.to).toBeLessThan(after?.from ?? 0);
    await proxy.restore();
    await Promise.all([one.stop(), two.stop()]);
  },
  long,
);
