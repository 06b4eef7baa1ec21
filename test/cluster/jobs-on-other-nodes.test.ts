import { existsSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { FleetManager } from "@herdctl/core/internal";
import type { FleetEvent, JobOutput } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { createInProcessCluster } from "../support/in-process-cluster.ts";
import { sharedPostgresAddress } from "../support/postgres.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { writeFiles } from "../support/temp-folder.ts";

await sharedPostgresAddress();

const greetingScript = { script: { rules: [{ reply: "Good morning." }] } };
const manualTrigger = { agent: "one" };
const gpuAgent = "  - { name: one, runtime: cli, runs_on: [gpu] }";
const endlessToolPrompt = toolCallPrompt([
  "Bash",
  { command: "echo x >> began; tail -f /dev/null" },
]);
const gpuNode = { node: { labels: ["gpu"] } };

/** The running jobs as another node shows them. */
async function runningCount(fleet: FleetManager) {
  const { agents } = await fleet.status();
  return agents.flatMap((agent) => agent.running);
}

test("runs a job on the node with its label and shows it on another", async () => {
  const harness = await startHarness(greetingScript);
  const { node } = await createInProcessCluster(harness, gpuAgent);
  const here = await node("here");
  await node("there", gpuNode);
  const seen: FleetEvent["type"][] = [];
  for (const type of ["job:created", "job:started", "job:completed"] as const)
    here.on(type, () => seen.push(type));
  const { job } = await here.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  const followed: JobOutput[] = [];
  for await (const line of here.jobs.output(job.id, {
    follow: true,
    signal: new AbortController().signal,
  }))
    followed.push(line);
  const ended = await here.jobs.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", summary: "Good morning.", attempts: 1 });
  const names = new Map((await here.nodes.list()).map(({ id, name }) => [id, name]));
  expect(names.get(ended.node ?? "")).toBe("there");
  expect(followed.map(({ message }) => message.type)).toEqual(
    expect.arrayContaining(["system", "assistant", "result"]),
  );
  const again: JobOutput[] = [];
  for await (const line of here.jobs.output(job.id)) again.push(line);
  expect(again).toEqual(followed);
  const [, second] = followed;
  const rest: JobOutput[] = [];
  for await (const line of here.jobs.output(job.id, { from: second?.offset })) rest.push(line);
  expect(rest).toEqual(followed.slice(2));
  await waitUntil("the end to be reported", async () => seen.includes("job:completed"));
  expect(seen).toEqual(["job:created", "job:started", "job:completed"]);
});

test("shows a job of another node with its node and cancels it from here", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const { node } = await createInProcessCluster(harness, gpuAgent);
  const here = await node("here");
  await node("there", gpuNode);
  const { job } = await here.jobs.trigger({ ...manualTrigger, prompt: endlessToolPrompt });
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  expect(await runningCount(here)).toMatchObject([{ job_id: job.id, node: "there" }]);
  await here.jobs.cancel(job.id);
  expect(await here.jobs.wait(job.id)).toMatchObject({ status: "cancelled", attempts: 1 });
  expect(await runningCount(here)).toEqual([]);
});

test("answers a request on another node than the one that asks", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const agent = "  - { name: one, runtime: cli, runs_on: [gpu], permission_mode: default }";
  const { node } = await createInProcessCluster(harness, agent);
  const here = await node("here");
  await node("there", gpuNode);
  const prompt = toolCallPrompt(["Bash", { command: "touch allowed" }]);
  const { job } = await here.jobs.trigger({ ...manualTrigger, prompt });
  const asked = await waitUntil("the question", async () => (await here.approvals.list())[0]);
  expect(asked).toMatchObject({ job_id: job.id });
  await here.approvals.answer(asked.id, "allow", { note: "a colleague" });
  expect(await here.jobs.wait(job.id)).toMatchObject({ status: "completed" });
  expect(existsSync(join(harness.workspace, "allowed"))).toBe(true);
});

test("keeps a job waiting for a node with its label and starts it when one joins", async () => {
  const harness = await startHarness(greetingScript);
  const { node } = await createInProcessCluster(harness, gpuAgent);
  const here = await node("here");
  const { job } = await here.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  const warning = await waitUntil("the warning", async () => {
    const { warnings = [] } = (await here.jobs.get(job.id))?.job ?? {};
    return warnings[0];
  });
  expect(warning).toContain("gpu");
  await node("there", gpuNode);
  expect(await here.jobs.wait(job.id)).toMatchObject({ status: "completed" });
});

test("applies limits across all nodes while each runs its share", {
  timeout: 120_000,
}, async () => {
  const harness = await startHarness({ script: { rules: [{ reply: "Done." }] } });
  const agents = "  - { name: one, runtime: cli, max_concurrent: 3 }";
  const { node } = await createInProcessCluster(harness, agents, { fleet: "max_concurrent: 3" });
  const two = { node: { capacity: 2 } };
  const fleets = [await node("a", two), await node("b", two)];
  const [first, second] = fleets;
  if (!first || !second) throw new Error("no nodes");
  let most = 0;
  const timer = setInterval(async () => {
    const { fleet } = await first.status();
    most = Math.max(most, fleet.running);
  }, 20);
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      (index % 2 ? first : second).jobs.trigger({ ...manualTrigger, prompt: "hello" }),
    ),
  );
  const ended = await Promise.all(made.map(({ job }) => second.jobs.wait(job.id)));
  clearInterval(timer);
  expect(ended.every(({ status, attempts }) => status === "completed" && attempts === 1)).toBe(
    true,
  );
  expect(new Set(ended.map((job) => job.node)).size).toBe(2);
  expect(most).toBeLessThanOrEqual(3);
});

test("resumes a session on its node, from whichever node it is requested", async () => {
  const harness = await startHarness(greetingScript);
  const { node } = await createInProcessCluster(harness, "  - { name: one, runtime: cli }");
  const there = await node("there");
  const first = await there.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  const ended = await there.jobs.wait(first.job.id);
  const here = await node("here");
  const { job } = await here.sessions.resume(ended.id, "and again");
  const resumed = await here.jobs.wait(job.id);
  expect(resumed).toMatchObject({ status: "completed", session_id: ended.session_id });
  expect(resumed.node).toBe(ended.node);
});

test("serves kept files from another node and only names large ones", async () => {
  const harness = await startHarness({ mode: "obedient" });
  writeFiles(harness.workspace, { "small.txt": "small", "large.txt": "x".repeat(1024 * 1024 + 1) });
  const keeping = "  - { name: one, runtime: cli, runs_on: [gpu], tools: [artifact] }";
  const { node } = await createInProcessCluster(harness, keeping);
  const here = await node("here");
  await node("there", gpuNode);
  const keep = (path: string) => toolCallPrompt(["mcp__herd__artifact", { path }]);
  const prompt = `${keep("small.txt")}\n\n${keep("large.txt")}`;
  const { job } = await here.jobs.trigger({ ...manualTrigger, prompt });
  expect(await here.jobs.wait(job.id)).toMatchObject({ status: "completed" });
  const names = (await here.artifacts.list(job.id)).map(({ name }) => name);
  expect(names).toEqual(["large.txt", "small.txt"]);
  const small = await here.artifacts.read(job.id, "small.txt");
  expect(small && (await buffer(small)).toString()).toBe("small");
  await expect(here.artifacts.read(job.id, "large.txt")).rejects.toThrow(/node there/);
  expect(await here.artifacts.read(job.id, "none.txt")).toBeUndefined();
});

test("starts a job that was assigned to another node immediately", async () => {
  const harness = await startHarness(greetingScript);
  const { node } = await createInProcessCluster(harness, gpuAgent);
  const here = await node("here");
  const there = await node("there", gpuNode);
  // The first jobs include one-time reads and setup.
  const waits: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    const began = performance.now();
    const started = new Promise<number>((resolve) => {
      const forget = there.on("job:started", () => {
        forget();
        resolve(performance.now() - began);
      });
    });
    const { job } = await here.jobs.trigger({ ...manualTrigger, prompt: "hello" });
    waits.push(await started);
    await here.jobs.wait(job.id);
  }
  expect(Math.min(...waits)).toBeLessThan(1_000);
});

test("runs only its own job in a fleet that runs a single job", async () => {
  const harness = await startHarness(greetingScript);
  const { node } = await createInProcessCluster(harness, "  - { name: one, runtime: cli }");
  const control = await node("control", { node: { role: "control" } });
  const { job: waits } = await control.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  const short = await node("short", { ownJobsOnly: true });
  const { job } = await short.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  expect(await short.jobs.wait(job.id)).toMatchObject({ status: "completed", attempts: 1 });
  expect((await control.jobs.get(waits.id))?.job).toMatchObject({ status: "pending", attempts: 0 });
  await short.shutdown();
  await node("there");
  expect(await control.jobs.wait(waits.id)).toMatchObject({ status: "completed" });
});
