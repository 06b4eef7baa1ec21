import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readJob, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { startObedientHarness, toolCallPrompt } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";
import {
  chainAgentYaml,
  circularChain,
  delegatePrompt,
  readToolResults,
  waitForChain,
} from "./delegation-helpers.ts";

const manualTrigger = { agent: "a" };
/** Waits until the file `go` exists. */
const waitingToolPrompt = toolCallPrompt([
  "Bash",
  { command: "while [ ! -e go ]; do sleep 0.05; done; echo done" },
]);

describe.each(testSubset(["cli", "sdk"], 1))("%s", (runtime) => {
  test("delegates to another agent, waits, and receives its outcome as data", async () => {
    const harness = await startObedientHarness();
    const report = toolCallPrompt(["mcp__herd__report", { report: { found: 3 } }]);
    const agents = [
      chainAgentYaml({ name: "a", runtime, mayTrigger: ["b"] }),
      chainAgentYaml({ name: "b", runtime, systemPrompt: report }),
    ].join("\n");
    // One slot for both: a job that waits for another agent gives its slot to that agent.
    const fleet = await startFleetInProcess(
      harness,
      writeFleetFile(harness, agents, "max_concurrent: 1"),
    );
    const prompt = delegatePrompt({ agent: "b", prompt: "Count them.", wait: true });
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt });
    const first = await fleet.jobs.wait(job.id);
    expect(first).toMatchObject({ outcome: { code: "success" }, waits_for: [], untrusted: false });
    const [, second] = await fleet.jobs.chain(job.id);
    expect(second).toMatchObject({
      agent: "b",
      prompt: "Count them.",
      trigger_type: "delegate",
      outcome: { code: "success" },
      chain: { id: job.id, parent: job.id, depth: 1, agents: ["a"] },
    });
    const answer = await readToolResults(first);
    expect(answer).toContain(`\\"job\\":\\"${second?.id}\\"`);
    expect(answer).toContain("<untrusted-data from=");
    expect(answer).toContain('\\"found\\": 3');
  });

  test("stops three obedient agents in a circle with one message", async () => {
    const harness = await startObedientHarness();
    const fleet = await startFleetInProcess(
      harness,
      writeFleetFile(harness, circularChain(runtime, true)),
    );
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "Begin." });
    const chain = await waitForChain(fleet, job.id);
    expect(chain.map(({ agent, status }) => `${agent} ${status}`)).toEqual([
      "a completed",
      "b completed",
      "c completed",
      "a skipped",
    ]);
    const [, , last, refused] = chain;
    expect(refused?.outcome).toMatchObject({ code: "chain_limit" });
    const message = "`a` is already in this chain: a → b → c → a.";
    expect(refused?.outcome?.message).toBe(message);
    expect(last && (await readToolResults(last)).split(message)).toHaveLength(2);
    expect(harness.rehearsal.ledger.main).toHaveLength(6);
  });

  test("cancels all delegated jobs together with the first job", async () => {
    const harness = await startObedientHarness();
    const agents = [
      chainAgentYaml({ name: "a", runtime, mayTrigger: ["b"] }),
      chainAgentYaml({
        name: "b",
        runtime,
        mayTrigger: ["c", "d"],
        systemPrompt: `${delegatePrompt({ agent: "d", prompt: "Later." })}\n\n${delegatePrompt({ agent: "c", prompt: "Now.", wait: true })}`,
      }),
      chainAgentYaml({ name: "c", runtime, systemPrompt: waitingToolPrompt }),
      chainAgentYaml({ name: "d", runtime }),
    ].join("\n");
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents));
    await fleet.agents.pause("d");
    const prompt = delegatePrompt({ agent: "b", prompt: "Go.", wait: true });
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt });
    const chain = await waitUntil("all of them to be there", async () => {
      const jobs = await fleet.jobs.chain(job.id);
      return jobs.length === 4 && jobs.some((one) => one.agent === "c" && one.attempts) && jobs;
    });
    await waitUntil("the last to run", async () =>
      (await fleet.jobs.chain(job.id)).some((one) => one.agent === "c" && one.status === "running"),
    );
    await fleet.jobs.cancel(job.id);
    const ended = await waitForChain(fleet, job.id);
    expect(ended.map(({ status }) => status)).toEqual(Array(4).fill("cancelled"));
    for (const { id } of chain) expect(processesWithMarker(id)).toEqual([]);
  });

  test("delivers the answer after the fleet was killed while one agent waits for another", async () => {
    const harness = await startObedientHarness();
    const agents = [
      chainAgentYaml({ name: "a", runtime, mayTrigger: ["b"] }),
      chainAgentYaml({ name: "b", runtime, systemPrompt: waitingToolPrompt }),
    ].join("\n");
    const file = writeFleetFile(harness, agents, "max_concurrent: 1");
    const first = await startFleetProcess(harness, file);
    const prompt = delegatePrompt({ agent: "b", prompt: "Wait for it.", wait: true });
    const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt });
    await waitUntil("the other to run", async () => {
      const [, other] = await first.control.jobs.chain(job.id);
      return other?.status === "running";
    });
    expect(await readJob(first.control, job.id)).toMatchObject({ status: "waiting" });
    await first.kill();

    const second = await startFleetProcess(harness, file);
    writeFileSync(join(harness.workspace, "go"), "");
    const chain = await waitForChain(second.control, job.id);
    expect(chain).toHaveLength(2);
    expect(chain).toMatchObject([
      { outcome: { code: "success" }, attempts: 1, waits_for: [] },
      { outcome: { code: "success" }, attempts: 1 },
    ]);
    const [waited] = chain;
    expect(waited && (await readToolResults(waited))).toContain("done");
    await second.stop();
  });

  test("refuses agents outside may_trigger and agents that do not exist", async () => {
    const harness = await startObedientHarness();
    const agents = [
      chainAgentYaml({ name: "a", runtime, mayTrigger: ["b-*"] }),
      chainAgentYaml({ name: "b-one", runtime }),
      chainAgentYaml({ name: "c", runtime }),
    ].join("\n");
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents));
    const prompt = ["c", "nobody", "b-one"]
      .map((agent) => delegatePrompt({ agent, prompt: "Go.", wait: true }))
      .join("\n\n");
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt });
    const [first, refused, third, ...others] = await waitForChain(fleet, job.id);
    expect(others).toEqual([]);
    expect(refused).toMatchObject({
      agent: "c",
      status: "skipped",
      outcome: { code: "not_allowed", message: "`a` may not trigger `c`." },
    });
    expect(third).toMatchObject({ agent: "b-one", outcome: { code: "success" } });
    const answers = first && (await readToolResults(first));
    expect(answers).toContain("`a` may not trigger `c`.");
    expect(answers).toContain("there is no agent `nobody`");
  });
});

test("waits for the next fleet before delegating", async () => {
  const harness = await startObedientHarness();
  const agents = [
    chainAgentYaml({ name: "a", mayTrigger: ["b"] }),
    chainAgentYaml({ name: "b" }),
  ].join("\n");
  const file = writeFleetFile(harness, agents);
  const first = await startFleetProcess(harness, file);
  const wait = toolCallPrompt([
    "Bash",
    { command: "touch began; while [ ! -e go ]; do sleep 0.05; done" },
  ]);
  const prompt = `${wait}\n\n${delegatePrompt({ agent: "b", prompt: "Go.", wait: true })}`;
  const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt });
  await waitUntil("it to start", async () => existsSync(join(harness.workspace, "began")));
  await first.kill();
  // No fleet is running; the run waits until one starts.
  writeFileSync(join(harness.workspace, "go"), "");
  await new Promise((done) => setTimeout(done, 1_000));
  const second = await startFleetProcess(harness, file);
  const chain = await waitForChain(second.control, job.id);
  expect(chain).toMatchObject([
    { agent: "a", outcome: { code: "success" }, attempts: 1 },
    { agent: "b", outcome: { code: "success" }, attempts: 1 },
  ]);
  await second.stop();
});

test("fences the prompts of a job that read untrusted text, and of all jobs that follow", async () => {
  const harness = await startObedientHarness();
  const agents = [
    chainAgentYaml({
      name: "a",
      mayTrigger: ["b"],
      systemPrompt: delegatePrompt({ agent: "b", prompt: "Ship it.", wait: true }),
    }),
    chainAgentYaml({
      name: "b",
      mayTrigger: ["c"],
      systemPrompt: delegatePrompt({ agent: "c", prompt: "Do it." }),
    }),
    chainAgentYaml({ name: "c", more: 'default_prompt: "Look at what you are given."' }),
  ].join("\n");
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents));
  const { job } = await fleet.jobs.trigger({
    ...manualTrigger,

    prompt: "A mail came.",
  });
  const [a, b, c] = await waitForChain(fleet, job.id);
  expect([a, b, c].map((one) => one?.untrusted)).toEqual([true, true, true]);
  expect(b?.prompt).toMatch(
    /<untrusted-data from="task.prompt"[^>]*>\nShip it\.\n<\/untrusted-data/,
  );
  expect(c?.prompt).toMatch(/\nDo it\.\n[\s\S]*Look at what you are given\.$/);
});

test("limits the jobs and the dollars of a chain as a whole", async () => {
  const harness = await startObedientHarness();
  const agents = [
    chainAgentYaml({ name: "a", mayTrigger: ["*"] }),
    chainAgentYaml({ name: "b", more: "max_budget_usd: 0.5" }),
    chainAgentYaml({ name: "c", more: "max_budget_usd: 2" }),
    chainAgentYaml({ name: "d" }),
  ].join("\n");
  const fleet = await startFleetInProcess(
    harness,
    writeFleetFile(harness, agents, "chain: { max_jobs: 3, max_cost_usd: 1 }"),
  );
  const prompt = ["b", "c", "d", "b"]
    .map((agent, index) => delegatePrompt({ agent, prompt: `Part ${index}.`, wait: true }))
    .join("\n\n");
  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt });
  const chain = await waitForChain(fleet, job.id);
  expect(chain.map(({ agent, outcome }) => `${agent} ${outcome?.code}`)).toEqual([
    "a success",
    "b success",
    "c chain_limit",
    "d success",
    "b chain_limit",
  ]);
  const [, b, c, d, again] = chain;
  expect(c?.outcome?.message).toMatch(/used 0\.\d+ of 1 dollars/);
  expect(again?.outcome?.message).toBe("The chain already has 3 jobs.");
  // The remaining budget of the chain limits every run, even of an agent without a limit.
  const left = 1 - (b?.cost_usd ?? 0);
  expect(d?.chain.max_usd).toBeCloseTo(left, 6);
});
