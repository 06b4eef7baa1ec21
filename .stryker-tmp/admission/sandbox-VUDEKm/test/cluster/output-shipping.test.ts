import { appendFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { OutputShipper } from "../../packages/core/src/cluster/output-shipper.ts";
import { readShippedOutput } from "../../packages/core/src/cluster/shipped-output.ts";
import type { SharedStore } from "../../packages/core/src/store/contracts/shared-store.ts";
import {
  type OutputLine,
  type ReadOutputOptions,
  readOutput,
} from "../../packages/core/src/store/files/output-reader.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import type { Job } from "../../packages/protocol/src/records/job.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { proxiedAddress, startTcpProxy } from "../support/tcp-proxy.ts";
import { tempFolderWith, writeFiles } from "../support/temp-folder.ts";

await sharedPostgresAddress();

const line = (value: unknown) => `${JSON.stringify({ type: "said", value })}\n`;

async function createShippingHarness() {
  const address = await createTestDatabase();
  const proxy = await startTcpProxy(Number(new URL(address).port));
  const state = await new StateManager(join(tempFolderWith({}), "state")).open({
    store: proxiedAddress(proxy, address),
  });
  onTestFinished(() => state.close());
  const { shared } = state;
  if (!shared) throw new Error("the state is not shared");
  const { job } = await state.jobs.create({ agent: "one", prompt: "hello" });
  writeFiles(dirname(job.output_file), { "output.jsonl": "" });
  const wakes = new Set<() => void>();
  const troubles: string[] = [];
  const shipper = new OutputShipper({
    outputs: shared.outputs,
    files: shared.files,
    onShipped: () => {
      for (const wake of wakes) wake();
    },
    reportError: (message) => troubles.push(message),
  });
  const onMore = (wake: () => void) => {
    wakes.add(wake);
    return () => void wakes.delete(wake);
  };
  const say = (text: string) => appendFileSync(job.output_file, text);
  return { state, shared, job, shipper, onMore, say, proxy, troubles };
}

async function collect(lines: AsyncIterable<OutputLine>): Promise<OutputLine[]> {
  const all: OutputLine[] = [];
  for await (const one of lines) all.push(one);
  return all;
}

/** Another node must read exactly the content of the file, from any offset. */
async function expectTheSame(shared: SharedStore, job: Job): Promise<void> {
  const shipped = (options: ReadOutputOptions) =>
    collect(readShippedOutput(shared.outputs, job.id, options, () => () => undefined));
  const here = await collect(readOutput(job.output_file));
  expect(await shipped({})).toEqual(here);
  for (const { offset: from } of here)
    expect(await shipped({ from })).toEqual(await collect(readOutput(job.output_file, { from })));
}

test("ships a log line by line while it grows, readable from any offset", async () => {
  const { shared, job, shipper, onMore, say } = await createShippingHarness();
  const shipment = shipper.follow(job);
  const over = new AbortController();
  const following = collect(
    readShippedOutput(shared.outputs, job.id, { follow: over.signal }, onMore),
  );
  say(line("one") + line("zwei: ä 🐑 \u0000"));
  say(line("half").slice(0, 9));
  await waitUntil("the first lines", async () => (await shared.outputs.size(job.id)) > 0);
  say(line("half").slice(9) + line("x".repeat(200_000)));
  for (let count = 0; count < 50; count += 1) say(line(count));
  await shipment.end();
  over.abort();
  expect(await following).toHaveLength(54);
  expect(await shared.outputs.size(job.id)).toBe(readFileSync(job.output_file).length);
  await expectTheSame(shared, job);
});

test("replaces text that the database cannot store and keeps later offsets", async () => {
  const { shared, job, shipper, say } = await createShippingHarness();
  say(line("one"));
  appendFileSync(job.output_file, Buffer.from([0, 0, 0, 0xff, 0xfe, 0xc3, 10]));
  say(line("two"));
  await shipper.follow(job).end();
  await expectTheSame(shared, job);
});

test("continues in the next process without duplicates", async () => {
  const { shared, job, shipper, say } = await createShippingHarness();
  const first = shipper.follow(job);
  say(line("one"));
  await waitUntil("the first line", async () => (await shared.outputs.size(job.id)) > 0);
  first.detach();
  say(line("two"));
  await shipper.follow(job).end();
  await Promise.all([shipper.follow(job).end(), shipper.follow(job).end()]);
  expect(await shared.outputs.size(job.id)).toBe(readFileSync(job.output_file).length);
  await expectTheSame(shared, job);
});

test("ships everything in order after a store outage, and readers continue", async () => {
  const { shared, job, shipper, onMore, say, proxy, troubles } = await createShippingHarness();
  const shipment = shipper.follow(job);
  const over = new AbortController();
  const following = collect(
    readShippedOutput(shared.outputs, job.id, { follow: over.signal }, onMore),
  );
  say(line("before"));
  await waitUntil("the first line", async () => (await shared.outputs.size(job.id)) > 0);
  await proxy.refuse();
  for (let count = 0; count < 20; count += 1) {
    say(line(`${count} ${"x".repeat(10_000)}`));
    await new Promise((done) => setTimeout(done, 20));
  }
  const ended = shipment.end();
  await proxy.restore();
  await ended;
  over.abort();
  expect(await following).toHaveLength(21);
  await expectTheSame(shared, job);
  expect(troubles).toEqual([]);
}, 60_000);

test("moves the shipped part of a log with its job", async () => {
  const { state, shared, job, shipper, say } = await createShippingHarness();
  say(line("one") + line("two"));
  await shipper.follow(job).end();
  say(line("lost"));
  const other = new StateManager(join(tempFolderWith({}), "state"));
  const output_file = join(other.stateDir, "jobs", job.id, "output.jsonl");
  await shipper.fetchEarlierOutput({ ...job, node: "node-lost", output_file }, "node-here");
  expect(readFileSync(output_file, "utf8")).toBe(line("one") + line("two"));
  appendFileSync(output_file, line("three"));
  await shipper.follow({ ...job, output_file }).end();
  await expectTheSame(shared, { ...job, output_file });
  await shipper.fetchEarlierOutput({ ...job, node: "node-here" }, "node-lost");
  expect(readFileSync(job.output_file, "utf8")).toBe(readFileSync(output_file, "utf8"));
  expect(state.jobDir(job.id)).toBe(dirname(job.output_file));
});
