import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { findNode, nodeFile, startNode } from "./start-nodes.ts";

await sharedPostgresAddress();

it("runs hooks once on the leader, and completes those of a killed leader on the next", async () => {
  const harness = await startHarness();
  const store = await createTestDatabase();
  const [quick, slow] = [join(harness.workspace, "quick"), join(harness.workspace, "slow")];
  // The shell's parent is the process that runs the hook; the hook ends when allowed.
  const waiting = `echo $PPID >> ${slow}; while [ ! -e ${slow}-go ]; do sleep 0.1; done`;
  const agents = `  - name: quick
    runtime: cli
    hooks: { after_run: [{ type: shell, command: "echo $PPID >> ${quick}" }] }
  - name: slow
    runtime: cli
    hooks: { after_run: [{ type: shell, command: "${waiting}", retry: { backoff: 200ms } }] }
`;
  const one = await startNode(harness, nodeFile(harness, agents), { name: "one", store });
  const two = await startNode(harness, nodeFile(harness, agents), { name: "two", store });
  const manual = { prompt: "hello" };
  await two.control.jobs.trigger({ ...manual, agent: "quick" });
  await waitUntil("the hook to have run", async () => linesOf(quick).length > 0);
  expect(linesOf(quick)).toEqual([String(one.pid)]);

  const { job } = await two.control.jobs.trigger({ ...manual, agent: "slow" });
  await waitUntil("the slow hook to begin", async () => linesOf(slow).length === 1);
  await one.kill();
  const isLeader = async () => (await findNode(two.control, "two"))?.leader;
  await waitUntil("the leadership to change", isLeader, 60_000);
  await waitUntil("the hook to start again", async () => linesOf(slow).length === 2, 60_000);
  expect(linesOf(slow)[1]).toBe(String(two.pid));
  writeFileSync(`${slow}-go`, "");
  await waitUntil("the hook to be recorded", async () => {
    const [run] = await two.control.hooks.list({ job: job.id, limit: 1 });
    return run?.status === "succeeded";
  });

  await two.control.jobs.trigger({ ...manual, agent: "quick" });
  await waitUntil("the other hook", async () => linesOf(quick).length === 2);
  expect(linesOf(quick)[1]).toBe(String(two.pid));
  await two.stop();
}, 180_000);

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
