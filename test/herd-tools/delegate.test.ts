import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { fleetProgram, jobNow, until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obedientStage, obey } from "../support/runtime.ts";
import { sliceOf } from "../support/width.ts";
import { chainOver, circle, delegate, member, told } from "./delegating.ts";

const manual = { trigger: "manual" as const, agent: "a" };
/** A tool that waits for a file to appear. */
const patientTool = obey([
  "Bash",
  { command: "while [ ! -e go ]; do sleep 0.05; done; echo done" },
]);

describe.each(sliceOf(["cli", "sdk"], 1))("%s", (runtime) => {
  test("an agent hands work to another, waits, and is told what came of it as data", async () => {
    const on = await obedientStage();
    const report = obey(["mcp__herd__report", { report: { found: 3 } }]);
    const agents = [
      member({ name: "a", runtime, may: ["b"] }),
      member({ name: "b", runtime, told: report }),
    ].join("\n");
    // One place for both: whoever waits for another agent leaves it to that one.
    const fleet = await startFleet(on, fleetFile(on, agents, "max_concurrent: 1"));
    const prompt = delegate({ agent: "b", prompt: "Count them.", wait: true });
    const { job } = await fleet.trigger({ ...manual, prompt });
    const first = await fleet.wait(job.id);
    expect(first).toMatchObject({ outcome: { code: "success" }, waits_for: [], untrusted: false });
    const [, second] = await fleet.chain(job.id);
    expect(second).toMatchObject({
      agent: "b",
      prompt: "Count them.",
      trigger_type: "delegate",
      outcome: { code: "success" },
      chain: { id: job.id, parent: job.id, depth: 1, agents: ["a"] },
    });
    const answer = await told(first);
    expect(answer).toContain(`\\"job\\":\\"${second?.id}\\"`);
    expect(answer).toContain("<untrusted-data from=");
    expect(answer).toContain('\\"found\\": 3');
  });

  test("three obedient agents in a circle are stopped by the chain, with one message", async () => {
    const on = await obedientStage();
    const fleet = await startFleet(on, fleetFile(on, circle(runtime, true)));
    const { job } = await fleet.trigger({ ...manual, prompt: "Begin." });
    const chain = await chainOver(fleet, job.id);
    expect(chain.map(({ agent, status }) => `${agent} ${status}`)).toEqual([
      "a completed",
      "b completed",
      "c completed",
      "a skipped",
    ]);
    const [, , last, refused] = chain;
    expect(refused?.outcome).toMatchObject({ code: "chain_limit" });
    const message = "`a` is at work in this chain already: a → b → c → a.";
    expect(refused?.outcome?.message).toBe(message);
    expect(last && (await told(last)).split(message)).toHaveLength(2);
    expect(on.rehearsal.ledger.main).toHaveLength(6);
  });

  test("cancelling the first ends all that came of it", async () => {
    const on = await obedientStage();
    const agents = [
      member({ name: "a", runtime, may: ["b"] }),
      member({
        name: "b",
        runtime,
        may: ["c", "d"],
        told: `${delegate({ agent: "d", prompt: "Later." })}\n\n${delegate({ agent: "c", prompt: "Now.", wait: true })}`,
      }),
      member({ name: "c", runtime, told: patientTool }),
      member({ name: "d", runtime }),
    ].join("\n");
    const fleet = await startFleet(on, fleetFile(on, agents));
    await fleet.pauseAgent("d");
    const prompt = delegate({ agent: "b", prompt: "Go.", wait: true });
    const { job } = await fleet.trigger({ ...manual, prompt });
    const chain = await until("all of them to be there", async () => {
      const jobs = await fleet.chain(job.id);
      return jobs.length === 4 && jobs.some((one) => one.agent === "c" && one.attempts) && jobs;
    });
    await until("the last to run", async () =>
      (await fleet.chain(job.id)).some((one) => one.agent === "c" && one.status === "running"),
    );
    await fleet.cancel(job.id);
    const ended = await chainOver(fleet, job.id);
    expect(ended.map(({ status }) => status)).toEqual(Array(4).fill("cancelled"));
    for (const { id } of chain) expect(processesWith(id)).toEqual([]);
  });

  test("the fleet is killed while one waits for another: the next one gives the answer", async () => {
    const on = await obedientStage();
    const agents = [
      member({ name: "a", runtime, may: ["b"] }),
      member({ name: "b", runtime, told: patientTool }),
    ].join("\n");
    const file = fleetFile(on, agents, "max_concurrent: 1");
    const first = await fleetProgram(on, file);
    const prompt = delegate({ agent: "b", prompt: "Wait for it.", wait: true });
    const { job } = await first.control.trigger({ ...manual, prompt });
    await until("the other to run", async () => {
      const [, other] = await first.control.chain(job.id);
      return other?.status === "running";
    });
    expect(await jobNow(first.control, job.id)).toMatchObject({ status: "waiting" });
    await first.kill();

    const second = await fleetProgram(on, file);
    writeFileSync(join(on.workspace, "go"), "");
    const chain = await chainOver(second.control, job.id);
    expect(chain).toHaveLength(2);
    expect(chain).toMatchObject([
      { outcome: { code: "success" }, attempts: 1, waits_for: [] },
      { outcome: { code: "success" }, attempts: 1 },
    ]);
    const [waited] = chain;
    expect(waited && (await told(waited))).toContain("done");
    await second.stop();
  });

  test("agents it may not trigger, and agents that do not exist, are refused", async () => {
    const on = await obedientStage();
    const agents = [
      member({ name: "a", runtime, may: ["b-*"] }),
      member({ name: "b-one", runtime }),
      member({ name: "c", runtime }),
    ].join("\n");
    const fleet = await startFleet(on, fleetFile(on, agents));
    const prompt = ["c", "nobody", "b-one"]
      .map((agent) => delegate({ agent, prompt: "Go.", wait: true }))
      .join("\n\n");
    const { job } = await fleet.trigger({ ...manual, prompt });
    const [first, refused, third, ...others] = await chainOver(fleet, job.id);
    expect(others).toEqual([]);
    expect(refused).toMatchObject({
      agent: "c",
      status: "skipped",
      outcome: { code: "not_allowed", message: "`a` may not trigger `c`." },
    });
    expect(third).toMatchObject({ agent: "b-one", outcome: { code: "success" } });
    const answers = first && (await told(first));
    expect(answers).toContain("`a` may not trigger `c`.");
    expect(answers).toContain("there is no agent `nobody`");
  });
});

test("a run without a fleet waits until there is one", async () => {
  const on = await obedientStage();
  const agents = [member({ name: "a", may: ["b"] }), member({ name: "b" })].join("\n");
  const file = fleetFile(on, agents);
  const first = await fleetProgram(on, file);
  const wait = obey(["Bash", { command: "touch began; while [ ! -e go ]; do sleep 0.05; done" }]);
  const prompt = `${wait}\n\n${delegate({ agent: "b", prompt: "Go.", wait: true })}`;
  const { job } = await first.control.trigger({ ...manual, prompt });
  await until("it to begin", async () => existsSync(join(on.workspace, "began")));
  await first.kill();
  // Nobody is there to be asked; the run waits for a fleet.
  writeFileSync(join(on.workspace, "go"), "");
  await new Promise((done) => setTimeout(done, 1_000));
  const second = await fleetProgram(on, file);
  const chain = await chainOver(second.control, job.id);
  expect(chain).toMatchObject([
    { agent: "a", outcome: { code: "success" }, attempts: 1 },
    { agent: "b", outcome: { code: "success" }, attempts: 1 },
  ]);
  await second.stop();
});

test("what a job hands on that read text from outside is fenced, and so is all that follows", async () => {
  const on = await obedientStage();
  const agents = [
    member({
      name: "a",
      may: ["b"],
      told: delegate({ agent: "b", prompt: "Ship it.", wait: true }),
    }),
    member({ name: "b", may: ["c"], told: delegate({ agent: "c", prompt: "Do it." }) }),
    member({ name: "c", more: 'default_prompt: "Look at what you are given."' }),
  ].join("\n");
  const fleet = await startFleet(on, fleetFile(on, agents));
  const { job } = await fleet.trigger({ ...manual, trigger: "webhook", prompt: "A mail came." });
  const [a, b, c] = await chainOver(fleet, job.id);
  expect([a, b, c].map((one) => one?.untrusted)).toEqual([true, true, true]);
  expect(b?.prompt).toMatch(
    /<untrusted-data from="task.prompt"[^>]*>\nShip it\.\n<\/untrusted-data/,
  );
  expect(c?.prompt).toMatch(/\nDo it\.\n[\s\S]*Look at what you are given\.$/);
});

test("the jobs and the dollars of a chain are limited as a whole", async () => {
  const on = await obedientStage();
  const agents = [
    member({ name: "a", may: ["*"] }),
    member({ name: "b", more: "max_budget_usd: 0.5" }),
    member({ name: "c", more: "max_budget_usd: 2" }),
    member({ name: "d" }),
  ].join("\n");
  const fleet = await startFleet(
    on,
    fleetFile(on, agents, "chain: { max_jobs: 3, max_cost_usd: 1 }"),
  );
  const prompt = ["b", "c", "d", "b"]
    .map((agent, index) => delegate({ agent, prompt: `Part ${index}.`, wait: true }))
    .join("\n\n");
  const { job } = await fleet.trigger({ ...manual, prompt });
  const chain = await chainOver(fleet, job.id);
  expect(chain.map(({ agent, outcome }) => `${agent} ${outcome?.code}`)).toEqual([
    "a success",
    "b success",
    "c chain_limit",
    "d success",
    "b chain_limit",
  ]);
  const [, b, c, d, again] = chain;
  expect(c?.outcome?.message).toMatch(/used 0\.\d+ of 1 dollars/);
  expect(again?.outcome?.message).toBe("The chain has 3 jobs already.");
  // What is left for the chain is the most that a run may cost, also of an agent without a limit.
  const left = 1 - (b?.cost_usd ?? 0);
  expect(d?.chain.max_usd).toBeCloseTo(left, 6);
});
