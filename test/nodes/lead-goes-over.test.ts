import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { until } from "../support/fleet-program.ts";
import { testDatabase, testServer } from "../support/postgres.ts";
import { stage } from "../support/stage.ts";
import { nodeFile, nodeNamed, startNode } from "./many-nodes.ts";

await testServer();

it("hooks run once, on the lead, wherever the job ran; the next lead does what a killed one left", async () => {
  const on = await stage();
  const store = await testDatabase();
  const [quick, slow] = [join(on.workspace, "quick"), join(on.workspace, "slow")];
  // Who runs it is its parent; it ends when it may.
  const waiting = `echo $PPID >> ${slow}; while [ ! -e ${slow}-go ]; do sleep 0.1; done`;
  const agents = `  - name: quick
    runtime: cli
    hooks: { after_run: [{ type: shell, command: "echo $PPID >> ${quick}" }] }
  - name: slow
    runtime: cli
    hooks: { after_run: [{ type: shell, command: "${waiting}", retry: { backoff: 200ms } }] }
`;
  const one = await startNode(on, nodeFile(on, agents), { name: "one", store });
  const two = await startNode(on, nodeFile(on, agents), { name: "two", store });
  const manual = { trigger: "manual" as const, prompt: "hello" };
  await two.control.trigger({ ...manual, agent: "quick" });
  await until("the hook to have run", async () => linesOf(quick).length > 0);
  expect(linesOf(quick)).toEqual([String(one.pid)]);

  const { job } = await two.control.trigger({ ...manual, agent: "slow" });
  await until("the slow hook to begin", async () => linesOf(slow).length === 1);
  await one.kill();
  const leads = async () => (await nodeNamed(two.control, "two"))?.lead;
  await until("the lead to go over", leads, 60_000);
  await until("the hook to be begun again", async () => linesOf(slow).length === 2, 60_000);
  expect(linesOf(slow)[1]).toBe(String(two.pid));
  writeFileSync(`${slow}-go`, "");
  await until("the hook to be recorded", async () => {
    const [run] = await two.control.hooks({ jobId: job.id, limit: 1 });
    return run?.status === "succeeded";
  });

  await two.control.trigger({ ...manual, agent: "quick" });
  await until("the other hook", async () => linesOf(quick).length === 2);
  expect(linesOf(quick)[1]).toBe(String(two.pid));
  await two.stop();
}, 180_000);

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
