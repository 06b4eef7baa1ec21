import { rmSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { NodeLease } from "../../packages/core/src/cluster/node-lease.ts";
import { LeaseWatch } from "../../packages/core/src/runner/process/lease-watch.ts";
import {
  leaseFilePath,
  type RunnerLease,
  uptimeMs,
  writeLease,
} from "../../packages/core/src/store/files/lease-file.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

it("keeps a runner going while the lease is renewed, and ends it at expiry", async () => {
  const file = leaseFilePath(tempFolderWith({}));
  writeLease(file, { term: "a", until: uptimeMs() + 1_500 });
  const began = uptimeMs();
  const renewals = setInterval(() => {
    if (uptimeMs() - began < 2_000) writeLease(file, { term: "a", until: uptimeMs() + 1_500 });
  }, 200);
  onTestFinished(() => clearInterval(renewals));
  await watchUntilExpired({ file, term: "a" });
  expect(uptimeMs() - began).toBeGreaterThan(2_500);
});

it("ends a runner within a second when the lease is released, replaced or removed", async () => {
  for (const end of [
    (lease: NodeLease) => lease.release(),
    (lease: NodeLease) => lease.acquire("node.2", uptimeMs(), false),
    (_: NodeLease, file: string) => rmSync(file),
  ]) {
    const folder = tempFolderWith({});
    const lease = new NodeLease(folder);
    lease.acquire("node.1", uptimeMs(), true);
    const ended = watchUntilExpired(lease.runnerLease);
    end(lease, leaseFilePath(folder));
    const endedAt = uptimeMs();
    await ended;
    expect(uptimeMs() - endedAt).toBeLessThan(3_000);
  }
});

it("keeps the term for the next process of a node unless the node was declared lost", () => {
  const folder = tempFolderWith({});
  const first = new NodeLease(folder);
  first.acquire("node.1", uptimeMs(), true);
  const { term } = first.runnerLease;
  const second = new NodeLease(folder);
  second.acquire("node.2", uptimeMs(), true);
  expect(second.runnerLease.term).toBe(term);
  const third = new NodeLease(folder);
  third.acquire("node.3", uptimeMs(), false);
  expect(third.runnerLease.term).not.toBe(term);
});

it("watches nothing without a shared store", async () => {
  const watch = new LeaseWatch(undefined);
  const soon = new Promise((done) => setTimeout(() => done("goes on"), 50));
  expect(await Promise.race([watch.ended.then(() => "over"), soon])).toBe("goes on");
});

async function watchUntilExpired(lease: RunnerLease): Promise<void> {
  const watch = new LeaseWatch(lease);
  onTestFinished(() => watch.stop());
  await watch.ended;
}
