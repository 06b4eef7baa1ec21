import { appendFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { OutputShipper } from "../../packages/core/src/fleet/nodes/output-shipper.ts";
import { readShipped } from "../../packages/core/src/fleet/nodes/shipped-output.ts";
import type { Job } from "../../packages/core/src/state/job.ts";
import {
  type OutputLine,
  type ReadOptions,
  readOutput,
} from "../../packages/core/src/state/output-reader.ts";
import type { SharedStore } from "../../packages/core/src/state/shared.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith, writeFiles } from "../support/folder.ts";
import { testDatabase, testServer } from "../support/postgres.ts";
import { proxyTo, through } from "../support/proxy.ts";

await testServer();

const line = (value: unknown) => `${JSON.stringify({ type: "said", value })}\n`;

async function world() {
  const address = await testDatabase();
  const proxy = await proxyTo(Number(new URL(address).port));
  const state = await new StateManager(join(folderWith({}), "state")).open({
    store: through(proxy, address),
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
    tell: () => {
      for (const wake of wakes) wake();
    },
    trouble: (message) => troubles.push(message),
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

/** What another node reads is what stands in the file, from wherever it is asked for. */
async function expectTheSame(shared: SharedStore, job: Job): Promise<void> {
  const shipped = (options: ReadOptions) =>
    collect(readShipped(shared.outputs, job.id, options, () => () => undefined));
  const here = await collect(readOutput(job.output_file));
  expect(await shipped({})).toEqual(here);
  for (const { offset: from } of here)
    expect(await shipped({ from })).toEqual(await collect(readOutput(job.output_file, { from })));
}

test("a log comes over line by line, while it grows and from anywhere in it", async () => {
  const { shared, job, shipper, onMore, say } = await world();
  const shipment = shipper.follow(job);
  const over = new AbortController();
  const following = collect(readShipped(shared.outputs, job.id, { follow: over.signal }, onMore));
  say(line("one") + line("zwei: ä 🐑 \u0000"));
  say(line("half").slice(0, 9));
  await until("the first lines", async () => (await shared.outputs.size(job.id)) > 0);
  say(line("half").slice(9) + line("x".repeat(200_000)));
  for (let count = 0; count < 50; count += 1) say(line(count));
  await shipment.end();
  over.abort();
  expect(await following).toHaveLength(54);
  expect(await shared.outputs.size(job.id)).toBe(readFileSync(job.output_file).length);
  await expectTheSame(shared, job);
});

test("what no text can hold takes its place, and what follows stands where it stood", async () => {
  const { shared, job, shipper, say } = await world();
  say(line("one"));
  appendFileSync(job.output_file, Buffer.from([0, 0, 0, 0xff, 0xfe, 0xc3, 10]));
  say(line("two"));
  await shipper.follow(job).end();
  await expectTheSame(shared, job);
});

test("the next process goes on where the last one stopped, and nothing comes twice", async () => {
  const { shared, job, shipper, say } = await world();
  const first = shipper.follow(job);
  say(line("one"));
  await until("the first line", async () => (await shared.outputs.size(job.id)) > 0);
  first.leave();
  say(line("two"));
  await shipper.follow(job).end();
  await Promise.all([shipper.follow(job).end(), shipper.follow(job).end()]);
  expect(await shared.outputs.size(job.id)).toBe(readFileSync(job.output_file).length);
  await expectTheSame(shared, job);
});

test("the store was away: all of it follows, in order, and whoever follows goes on", async () => {
  const { shared, job, shipper, onMore, say, proxy, troubles } = await world();
  const shipment = shipper.follow(job);
  const over = new AbortController();
  const following = collect(readShipped(shared.outputs, job.id, { follow: over.signal }, onMore));
  say(line("before"));
  await until("the first line", async () => (await shared.outputs.size(job.id)) > 0);
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

test("a job that moves takes its log along; what had not come over is not in it", async () => {
  const { state, shared, job, shipper, say } = await world();
  say(line("one") + line("two"));
  await shipper.follow(job).end();
  say(line("lost"));
  const other = new StateManager(join(folderWith({}), "state"));
  const output_file = join(other.stateDir, "jobs", job.id, "output.jsonl");
  await shipper.bringHere({ ...job, node: "node-lost", output_file }, "node-here");
  expect(readFileSync(output_file, "utf8")).toBe(line("one") + line("two"));
  appendFileSync(output_file, line("three"));
  await shipper.follow({ ...job, output_file }).end();
  await expectTheSame(shared, { ...job, output_file });
  await shipper.bringHere({ ...job, node: "node-here" }, "node-lost");
  expect(readFileSync(job.output_file, "utf8")).toBe(readFileSync(output_file, "utf8"));
  expect(state.jobDir(job.id)).toBe(dirname(job.output_file));
});
