import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { runHerdctl } from "../cli/run-herdctl.ts";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { startObedientHarness, toolCallPrompt } from "../support/runtimes-under-test.ts";
import {
  chainAgentYaml,
  circularChain,
  delegatePrompt,
  waitForChain,
} from "./delegation-helpers.ts";

const manualTrigger = { agent: "a" };
const mcpServer = resolve(import.meta.dirname, "../runtimes/programs/mcp-server.mjs");

test("shows a chain as a tree and each job with its position in it", async () => {
  const harness = await startObedientHarness();
  const file = writeFleetFile(harness, circularChain("cli", false));
  const fleet = await startFleetProcess(harness, file);
  const { job } = await fleet.control.jobs.trigger({ ...manualTrigger, prompt: "Begin." });
  const [a, b, c, refused] = await waitForChain(fleet.control, job.id);
  const cwd = dirname(file);

  const shown = await runHerdctl(["chain", c?.id ?? ""], { cwd });
  const lines = shown.stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.slice(0, Math.max(line.indexOf("job-"), 0)).trimEnd())).toEqual([
    "a",
    "└─ b",
    "   └─ c",
    "      └─ a",
    "",
  ]);
  expect(lines[3]).toContain("– chain_limit");
  expect(lines[4]).toMatch(/^3 jobs, \$0\.\d+$/);

  const asJson = await runHerdctl(["chain", "--json", job.id], { cwd });
  const { jobs } = JSON.parse(asJson.stdout) as { jobs: Job[] };
  expect(jobs.map(({ id }) => id)).toEqual([a, b, c, refused].map((one) => one?.id));

  const page = await runHerdctl(["job", c?.id ?? ""], { cwd });
  expect(page.stdout).toContain(`a → b → c (parent ${b?.id}, root ${job.id})`);
  await fleet.stop();
});

test("cancels the delegated jobs of a finished job with `herdctl cancel`", async () => {
  const harness = await startObedientHarness();
  // Claude Code refuses a command that is only a long `sleep`.
  const patient = toolCallPrompt(["Bash", { command: "tail -f /dev/null" }]);
  const agents = [
    chainAgentYaml({ name: "a", mayTrigger: ["b"] }),
    chainAgentYaml({ name: "b", systemPrompt: patient }),
  ];
  const file = writeFleetFile(harness, agents.join("\n"));
  const fleet = await startFleetProcess(harness, file);
  const prompt = delegatePrompt({ agent: "b", prompt: "Go." });
  const { job } = await fleet.control.jobs.trigger({ ...manualTrigger, prompt });
  expect(await fleet.control.jobs.wait(job.id)).toMatchObject({ status: "completed" });
  await waitUntil("the other to run", async () => {
    const [, other] = await fleet.control.jobs.chain(job.id);
    return other?.status === "running";
  });
  // The first job itself has finished.
  const { code, stdout } = await runHerdctl(["cancel", job.id], { cwd: dirname(file) });
  expect(code).toBe(0);
  const chain = await waitForChain(fleet.control, job.id);
  expect(chain.map(({ outcome }) => outcome)).toMatchObject([
    { code: "success" },
    { code: "cancelled" },
  ]);
  for (const { id } of chain) expect(stdout).toContain(id);
  await fleet.stop();
});

test("leaves no job of a chain behind when the fleet is killed during its cancellation", async () => {
  const harness = await startObedientHarness();
  const agents = [chainAgentYaml({ name: "a", mayTrigger: ["b"] }), chainAgentYaml({ name: "b" })];
  const file = writeFleetFile(harness, agents.join("\n"));
  const first = await startFleetProcess(harness, file);
  await first.control.agents.pause("b");
  const prompt = delegatePrompt({ agent: "b", prompt: "Go.", wait: true });
  const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt });
  await waitUntil(
    "the other to be there",
    async () => (await first.control.jobs.chain(job.id)).length === 2,
  );
  await first.kill();
  const state = await new StateManager(join(dirname(file), ".herdctl")).open();
  const outcome = { code: "cancelled" as const, message: "m", hint: "h" };
  await state.jobs.endAttempt(
    job.id,
    1,
    { outcome_code: "cancelled", session_id: null, cost_usd: null },
    { status: "cancelled", outcome },
  );
  const runner = (await state.jobs.get(job.id))?.runner?.pid;
  await state.close();
  if (runner !== undefined) process.kill(runner, "SIGTERM");

  const second = await startFleetProcess(harness, file);
  const [, other] = await waitForChain(second.control, job.id);
  expect(other).toMatchObject({ agent: "b", status: "cancelled", attempts: 0 });
  await second.stop();
});

test("marks an agent that used a foreign tool, and every agent that received its answer, as untrusted", async () => {
  const harness = await startObedientHarness();
  const shout = toolCallPrompt(["mcp__other__shout", { text: "hello" }]);
  const server = `mcp_servers: { other: { command: node, args: ["${mcpServer}"] } }`;
  const agents = [
    chainAgentYaml({ name: "a", mayTrigger: ["b", "c"] }),
    chainAgentYaml({ name: "b", systemPrompt: shout, more: server }),
    chainAgentYaml({ name: "c" }),
  ];
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents.join("\n")));
  const prompts = ["b", "c"].map((agent) => delegatePrompt({ agent, prompt: "Go.", wait: true }));
  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: prompts.join("\n\n") });
  const [a, b, c] = await waitForChain(fleet, job.id);
  // The first delegation is still trusted; everything after its answer is not.
  expect(b?.prompt).toBe("Go.");
  expect(c?.prompt).toMatch(/<untrusted-data/);
  expect([a?.untrusted, c?.untrusted]).toEqual([true, true]);
});

test("refuses the second of two agents that would wait for each other, and lets both finish", async () => {
  const harness = await startObedientHarness();
  const patient = toolCallPrompt(["Bash", { command: "while [ ! -e go ]; do sleep 0.05; done" }]);
  const agents = [
    chainAgentYaml({ name: "a", mayTrigger: ["b"] }),
    chainAgentYaml({ name: "b", mayTrigger: ["a"] }),
  ];
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents.join("\n")));
  const pass = (agent: string) =>
    `${patient}\n\n${delegatePrompt({ agent, prompt: "Go.", wait: true })}`;
  const first = await fleet.jobs.trigger({ ...manualTrigger, prompt: pass("b") });
  const second = await fleet.jobs.trigger({ ...manualTrigger, agent: "b", prompt: pass("a") });
  await waitUntil("both to run", async () => (await fleet.status()).fleet.running === 2);
  writeFileSync(join(harness.workspace, "go"), "");
  const chains = [
    ...(await waitForChain(fleet, first.job.id)),
    ...(await waitForChain(fleet, second.job.id)),
  ];
  const refused = chains.filter(({ status }) => status === "skipped");
  expect(refused).toHaveLength(1);
  expect(refused[0]?.outcome?.message).toMatch(/could never start while `[ab]` waits for it/);
  const others = chains.filter(({ status }) => status !== "skipped");
  expect(others.map(({ outcome }) => outcome?.code)).toEqual(Array(3).fill("success"));
});

test("runs delegated jobs in a fleet that runs a single job", async () => {
  const harness = await startObedientHarness();
  const agents = [chainAgentYaml({ name: "a", mayTrigger: ["b"] }), chainAgentYaml({ name: "b" })];
  const file = writeFleetFile(harness, agents.join("\n"));
  const alone = { ownJobsOnly: true, unattended: true };
  const fleet = await startFleetInProcess(harness, file, alone);
  const prompt = delegatePrompt({ agent: "b", prompt: "Go.", wait: true });
  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt });
  const chain = await waitForChain(fleet, job.id);
  expect(chain.map(({ outcome }) => outcome?.code)).toEqual(["success", "success"]);
});
