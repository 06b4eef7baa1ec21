import { rmSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { KeptLease } from "../../packages/core/src/fleet/nodes/kept-lease.ts";
import { LeaseWatch } from "../../packages/core/src/runner-process/lease-watch.ts";
import {
  leaseFilePath,
  machineTime,
  type RunnerLease,
  writeLease,
} from "../../packages/core/src/state/lease-file.ts";
import { folderWith } from "../support/folder.ts";

it("a runner goes on while its node's lease is renewed, and not past its end", async () => {
  const file = leaseFilePath(folderWith({}));
  writeLease(file, { term: "a", until: machineTime() + 1_500 });
  const began = machineTime();
  const renewals = setInterval(() => {
    if (machineTime() - began < 2_000)
      writeLease(file, { term: "a", until: machineTime() + 1_500 });
  }, 200);
  onTestFinished(() => clearInterval(renewals));
  await watched({ file, term: "a" });
  expect(machineTime() - began).toBeGreaterThan(2_500);
});

it("ended at once, under another term, or gone: it is over within a second", async () => {
  for (const end of [
    (lease: KeptLease) => lease.end(),
    (lease: KeptLease) => lease.begin("node.2", machineTime(), false),
    (_: KeptLease, file: string) => rmSync(file),
  ]) {
    const folder = folderWith({});
    const lease = new KeptLease(folder);
    lease.begin("node.1", machineTime(), true);
    const ended = watched(lease.forRunner);
    end(lease, leaseFilePath(folder));
    const endedAt = machineTime();
    await ended;
    expect(machineTime() - endedAt).toBeLessThan(3_000);
  }
});

it("the next process of a node keeps the term, if nobody called the node lost meanwhile", () => {
  const folder = folderWith({});
  const first = new KeptLease(folder);
  first.begin("node.1", machineTime(), true);
  const { term } = first.forRunner;
  const second = new KeptLease(folder);
  second.begin("node.2", machineTime(), true);
  expect(second.forRunner.term).toBe(term);
  const third = new KeptLease(folder);
  third.begin("node.3", machineTime(), false);
  expect(third.forRunner.term).not.toBe(term);
});

it("without a shared store there is nothing to watch", async () => {
  const watch = new LeaseWatch(undefined);
  const soon = new Promise((done) => setTimeout(() => done("goes on"), 50));
  expect(await Promise.race([watch.ended.then(() => "over"), soon])).toBe("goes on");
});

async function watched(lease: RunnerLease): Promise<void> {
  const watch = new LeaseWatch(lease);
  onTestFinished(() => watch.stop());
  await watch.ended;
}
