import { existsSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { FleetEvent, FleetManager, JobOutput } from "@herdctl/core";
import { expect, test } from "vitest";
import { until } from "../support/fleet-program.ts";
import { writeFiles } from "../support/folder.ts";
import { together } from "../support/nodes.ts";
import { testServer } from "../support/postgres.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

await testServer();

const hi = { script: { rules: [{ reply: "Good morning." }] } };
const manual = { trigger: "manual" as const, agent: "one" };
const onGpu = "  - { name: one, runtime: cli, runs_on: [gpu] }";
const endless = obey(["Bash", { command: "echo x >> began; tail -f /dev/null" }]);
const gpu = { node: { labels: ["gpu"] } };

/** What another node shows of the job while it runs. */
async function running(fleet: FleetManager) {
  const { agents } = await fleet.status();
  return agents.flatMap((agent) => agent.running);
}

test("a job runs on the node that has its label; all of it is seen from another", async () => {
  const on = await stage(hi);
  const { node } = await together(on, onGpu);
  const here = await node("here");
  await node("there", gpu);
  const seen: FleetEvent["type"][] = [];
  for (const type of ["job:created", "job:started", "job:completed"] as const)
    here.on(type, () => seen.push(type));
  const { job } = await here.trigger({ ...manual, prompt: "hello" });
  const followed: JobOutput[] = [];
  for await (const line of here.output(job.id, { follow: new AbortController().signal }))
    followed.push(line);
  const ended = await here.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", summary: "Good morning.", attempts: 1 });
  const names = new Map((await here.nodes()).map(({ id, name }) => [id, name]));
  expect(names.get(ended.node ?? "")).toBe("there");
  expect(followed.map(({ message }) => message.type)).toEqual(
    expect.arrayContaining(["system", "assistant", "result"]),
  );
  const again: JobOutput[] = [];
  for await (const line of here.output(job.id)) again.push(line);
  expect(again).toEqual(followed);
  const [, second] = followed;
  const rest: JobOutput[] = [];
  for await (const line of here.output(job.id, { from: second?.offset })) rest.push(line);
  expect(rest).toEqual(followed.slice(2));
  await until("the end to be told", async () => seen.includes("job:completed"));
  expect(seen).toEqual(["job:created", "job:started", "job:completed"]);
});

test("what runs elsewhere is shown with its node, and cancelled from here", async () => {
  const on = await stage({ mode: "obedient" });
  const { node } = await together(on, onGpu);
  const here = await node("here");
  await node("there", gpu);
  const { job } = await here.trigger({ ...manual, prompt: endless });
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  expect(await running(here)).toMatchObject([{ job_id: job.id, node: "there" }]);
  await here.cancel(job.id);
  expect(await here.wait(job.id)).toMatchObject({ status: "cancelled", attempts: 1 });
  expect(await running(here)).toEqual([]);
});

test("a person answers on another node than the one that asks", async () => {
  const on = await stage({ mode: "obedient" });
  const agent = "  - { name: one, runtime: cli, runs_on: [gpu], permission_mode: default }";
  const { node } = await together(on, agent);
  const here = await node("here");
  await node("there", gpu);
  const prompt = obey(["Bash", { command: "touch allowed" }]);
  const { job } = await here.trigger({ ...manual, prompt });
  const asked = await until("the question", async () => (await here.approvals())[0]);
  expect(asked).toMatchObject({ job_id: job.id });
  await here.answer(asked.id, "allow", "a colleague");
  expect(await here.wait(job.id)).toMatchObject({ status: "completed" });
  expect(existsSync(join(on.workspace, "allowed"))).toBe(true);
});

test("a job waits for a node with its label, says so, and starts when there is one", async () => {
  const on = await stage(hi);
  const { node } = await together(on, onGpu);
  const here = await node("here");
  const { job } = await here.trigger({ ...manual, prompt: "hello" });
  const told = await until("it to say so", async () => {
    const { warnings = [] } = (await here.job(job.id))?.job ?? {};
    return warnings[0];
  });
  expect(told).toContain("gpu");
  await node("there", gpu);
  expect(await here.wait(job.id)).toMatchObject({ status: "completed" });
});

test("limits hold over all nodes, and each runs its part", { timeout: 120_000 }, async () => {
  const on = await stage({ script: { rules: [{ reply: "Done." }] } });
  const agents = "  - { name: one, runtime: cli, max_concurrent: 3 }";
  const { node } = await together(on, agents, { fleet: "max_concurrent: 3" });
  const two = { node: { capacity: 2 } };
  const fleets = [await node("a", two), await node("b", two)];
  const [first, second] = fleets;
  if (!first || !second) throw new Error("no nodes");
  let most = 0;
  const look = setInterval(async () => {
    const { fleet } = await first.status();
    most = Math.max(most, fleet.running);
  }, 20);
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      (index % 2 ? first : second).trigger({ ...manual, prompt: "hello" }),
    ),
  );
  const ended = await Promise.all(made.map(({ job }) => second.wait(job.id)));
  clearInterval(look);
  expect(ended.every(({ status, attempts }) => status === "completed" && attempts === 1)).toBe(
    true,
  );
  expect(new Set(ended.map((job) => job.node)).size).toBe(2);
  expect(most).toBeLessThanOrEqual(3);
});

test("a session goes on where it is, from whichever node it is asked for", async () => {
  const on = await stage(hi);
  const { node } = await together(on, "  - { name: one, runtime: cli }");
  const there = await node("there");
  const first = await there.trigger({ ...manual, prompt: "hello" });
  const ended = await there.wait(first.job.id);
  const here = await node("here");
  const { job } = await here.resume(ended.id, "and again");
  const resumed = await here.wait(job.id);
  expect(resumed).toMatchObject({ status: "completed", session_id: ended.session_id });
  expect(resumed.node).toBe(ended.node);
});

test("files that a job keeps are found from another node; large ones are told of", async () => {
  const on = await stage({ mode: "obedient" });
  writeFiles(on.workspace, { "small.txt": "small", "large.txt": "x".repeat(1024 * 1024 + 1) });
  const keeping = "  - { name: one, runtime: cli, runs_on: [gpu], tools: [artifact] }";
  const { node } = await together(on, keeping);
  const here = await node("here");
  await node("there", gpu);
  const keep = (path: string) => obey(["mcp__herd__artifact", { path }]);
  const prompt = `${keep("small.txt")}\n\n${keep("large.txt")}`;
  const { job } = await here.trigger({ ...manual, prompt });
  expect(await here.wait(job.id)).toMatchObject({ status: "completed" });
  const names = (await here.artifacts(job.id)).map(({ name }) => name);
  expect(names).toEqual(["large.txt", "small.txt"]);
  const small = await here.artifact(job.id, "small.txt");
  expect(small && (await buffer(small)).toString()).toBe("small");
  await expect(here.artifact(job.id, "large.txt")).rejects.toThrow(/node there/);
  expect(await here.artifact(job.id, "none.txt")).toBeUndefined();
});

test("a job that was handed to another node begins there at once", async () => {
  const on = await stage(hi);
  const { node } = await together(on, onGpu);
  const here = await node("here");
  const there = await node("there", gpu);
  // The first ones pay for what is read and made once.
  const waits: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    const began = performance.now();
    const started = new Promise<number>((resolve) => {
      const forget = there.on("job:started", () => {
        forget();
        resolve(performance.now() - began);
      });
    });
    const { job } = await here.trigger({ ...manual, prompt: "hello" });
    waits.push(await started);
    await here.wait(job.id);
  }
  expect(Math.min(...waits)).toBeLessThan(1_000);
});

test("a short fleet runs its own job and leaves the others where they are", async () => {
  const on = await stage(hi);
  const { node } = await together(on, "  - { name: one, runtime: cli }");
  const control = await node("control", { node: { role: "control" } });
  const { job: waits } = await control.trigger({ ...manual, prompt: "hello" });
  const short = await node("short", { onlyOwn: true });
  const { job } = await short.trigger({ ...manual, prompt: "hello" });
  expect(await short.wait(job.id)).toMatchObject({ status: "completed", attempts: 1 });
  expect((await control.job(waits.id))?.job).toMatchObject({ status: "pending", attempts: 0 });
  await short.stop();
  await node("there");
  expect(await control.wait(waits.id)).toMatchObject({ status: "completed" });
});
