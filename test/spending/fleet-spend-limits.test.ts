import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import {
  bashTool,
  costPerCallUsd,
  directCalls,
  model,
  scriptForCommand,
  scriptForTools,
} from "./api-call-scripts.ts";

const manualTrigger = { prompt: "spend" };
const triggerAgentOne = { ...manualTrigger, agent: "one" };

function agentLine(name: string, more = ""): string {
  return `  - { name: ${name}, model: ${model}, retry: { max_attempts: 1 }${more && `, ${more}`} }`;
}

/** A tool that makes its calls and then waits for a file. */
function waitingCallsCommand(count: number): string {
  return `${directCalls(count)}; echo x > made; while [ ! -e go ]; do sleep 0.05; done`;
}

function fileExists(harness: TestHarness, name: string): () => Promise<boolean> {
  return async () => existsSync(join(harness.workspace, name));
}

function countDirectCalls(harness: TestHarness): number {
  const { entries } = harness.rehearsal.ledger;
  return entries.filter(({ prompt, usage }) => usage && prompt?.includes("direct call")).length;
}

describe("spend limits in a fleet", () => {
  test("records the metered cost of a job with a killed runner and counts it for the day", async () => {
    const harness = await startHarness({ script: scriptForCommand(waitingCallsCommand(3)) });
    const agents = agentLine("one").replace(model, "claude-opus-99");
    const fleet = await startFleetInProcess(
      harness,
      writeFleetFile(harness, agents, "budget: { daily_usd: 0.3 }"),
    );
    const { job } = await fleet.jobs.trigger(triggerAgentOne);
    await waitUntil("the calls", fileExists(harness, "made"));
    const running = await fleet.jobs.get(job.id);
    process.kill(running?.job.runner?.pid ?? 0, "SIGKILL");
    const ended = await waitUntil("the attempt to be settled", async () => {
      const found = await fleet.jobs.get(job.id);
      return found?.attempts[0]?.finished_at ? found : undefined;
    });
    expect(ended.attempts[0]?.cost_usd).toBeGreaterThanOrEqual(3 * costPerCallUsd);
    const { warnings } = await fleet.jobs.wait(job.id);
    expect(warnings.filter((text) => text.includes("claude-opus-99"))).toHaveLength(1);
    const { job: next } = await fleet.jobs.trigger(triggerAgentOne);
    expect(next).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });
  });

  test("subtracts what one run spends from a concurrent run", async () => {
    const wait = `${waitingCallsCommand(0)}; ${directCalls(5)}`;
    const harness = await startHarness({ script: scriptForCommand(wait) });
    const agents = agentLine("one", "max_concurrent: 2");
    const fleet = await startFleetInProcess(
      harness,
      writeFleetFile(harness, agents, "budget: { daily_usd: 0.4 }"),
    );
    const jobs = await Promise.all([
      fleet.jobs.trigger(triggerAgentOne),
      fleet.jobs.trigger(triggerAgentOne),
    ]);
    await waitUntil("both to run", async () => (await fleet.status()).fleet.running === 2);
    await waitUntil("one of their tools", fileExists(harness, "made"));
    writeFileSync(join(harness.workspace, "go"), "");
    const ended = await Promise.all(jobs.map(({ job }) => fleet.jobs.wait(job.id)));
    const codes = ended.map(({ outcome }) => outcome?.code);
    expect(codes).toEqual(["budget_exceeded", "budget_exceeded"]);
    // Each may exceed the limit by one call, whose cost is unknown at its start.
    expect(countDirectCalls(harness)).toBeLessThanOrEqual(6);
    const { fleet: day } = await fleet.budget.get();
    expect(day.spent.usd).toBeLessThanOrEqual(0.4 + 2 * costPerCallUsd);
  });

  test("limits the first job of a chain to the rest of the chain", async () => {
    const handOn = { agent: "two", prompt: "Help.", wait: true };
    const tools = [{ name: "mcp__herd__delegate", input: handOn }, bashTool(directCalls(5))];
    const harness = await startHarness({
      script: scriptForTools({ Help: [bashTool(directCalls(2))], spend: tools }),
    });
    const agents = [
      agentLine("one", "tools: [delegate], may_trigger: [two]"),
      agentLine("two"),
    ].join("\n");
    const fleet = await startFleetInProcess(
      harness,
      writeFleetFile(harness, agents, "chain: { max_cost_usd: 0.4 }"),
    );
    const { job } = await fleet.jobs.trigger(triggerAgentOne);
    const first = await fleet.jobs.wait(job.id);
    expect(first.outcome).toMatchObject({
      code: "budget_exceeded",
      message: "The spending limit of this chain of jobs is reached (chain.max_cost_usd: $0.4).",
    });
    const [, second] = await fleet.jobs.chain(job.id);
    expect(second).toMatchObject({ agent: "two", outcome: { code: "success" } });
    // Two of the helper, and two of the job itself.
    expect(countDirectCalls(harness)).toBe(4);
  });

  test("applies `max_budget_usd` to all attempts of a job", async () => {
    const dies = bashTool(`${directCalls(2)}; kill -9 $PPID`);
    const script = scriptForTools({ interrupted: [bashTool(directCalls(5))], spend: [dies] });
    const harness = await startHarness({ script });
    const limits = "max_budget_usd: 0.4, retry: { max_attempts: 2, backoff: 200ms }";
    const agents = `  - { name: one, model: ${model}, ${limits} }`;
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents));
    const { job } = await fleet.jobs.trigger(triggerAgentOne);
    const ended = await fleet.jobs.wait(job.id);
    expect(ended).toMatchObject({
      attempts: 2,
      outcome: {
        code: "budget_exceeded",
        message: "The spending limit of this job is reached (max_budget_usd: $0.4).",
      },
    });
    expect(countDirectCalls(harness)).toBe(4);
  });

  test("continues a running job after a limit is raised", async () => {
    const command = `${waitingCallsCommand(2)}; ${directCalls(2)}`;
    const harness = await startHarness({ script: scriptForCommand(command) });
    const fleet = await startFleetInProcess(
      harness,
      writeFleetFile(harness, agentLine("one"), "budget: { daily_usd: 0.1 }"),
    );
    const { job } = await fleet.jobs.trigger(triggerAgentOne);
    await waitUntil("the calls", fileExists(harness, "made"));
    await fleet.budget.raise({ usd: 5 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    writeFileSync(join(harness.workspace, "go"), "");
    const ended = await fleet.jobs.wait(job.id);
    expect(ended.outcome?.code).toBe("success");
    expect(countDirectCalls(harness)).toBeGreaterThanOrEqual(3);
  });

  test("records the cost of each turn of a live session", async () => {
    const harness = await startHarness({ script: scriptForCommand(directCalls(1)) });
    const agents = agentLine("one", "session: { mode: persistent }, keep_alive: { sessions: 60s }");
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents));
    const costs: number[] = [];
    let resume: string | undefined;
    for (let turn = 0; turn < 2; turn += 1) {
      const { job } = await fleet.jobs.trigger({ ...triggerAgentOne, conversation: true, resume });
      const ended = await fleet.jobs.wait(job.id);
      expect(ended.outcome?.code).toBe("success");
      costs.push(ended.cost_usd ?? 0);
      resume = ended.session_id ?? undefined;
    }
    for (const usd of costs) expect(usd).toBeGreaterThanOrEqual(costPerCallUsd);
    expect(Math.abs((costs[1] ?? 0) - (costs[0] ?? 0))).toBeLessThan(costPerCallUsd);
  });

  test("limits a message to a live session to the rest of the day", async () => {
    const tools = (count: number) => [bashTool(`echo $PPID >> pids; ${directCalls(count)}`)];
    const harness = await startHarness({
      script: scriptForTools({ spend: tools(2), more: tools(5) }),
    });
    const agents = agentLine("one", "session: { mode: persistent }, keep_alive: { sessions: 60s }");
    const file = writeFleetFile(harness, agents, "budget: { daily_usd: 0.4 }");
    const fleet = await startFleetInProcess(harness, file);
    const { job } = await fleet.jobs.trigger({ ...triggerAgentOne, conversation: true });
    const first = await fleet.jobs.wait(job.id);
    expect(first.outcome?.code).toBe("success");
    const resume = first.session_id ?? undefined;
    const next = await fleet.jobs.trigger({
      ...triggerAgentOne,
      prompt: "more",
      conversation: true,
      resume,
    });
    const second = await fleet.jobs.wait(next.job.id);
    expect(second.outcome?.message).toBe(
      "The spending limit of the fleet today is reached (budget.daily_usd: $0.4).",
    );
    expect(countDirectCalls(harness)).toBe(4);
    const [before, after] = readFileSync(join(harness.workspace, "pids"), "utf8").split("\n");
    expect(after).toBe(before);
  });

  test("limits a job that takes a pre-started `claude`", async () => {
    const command = `echo $PPID > pid; ${directCalls(5)}`;
    const harness = await startHarness({ script: scriptForCommand(command) });
    const file = writeFleetFile(
      harness,
      agentLine("one", "keep_alive: { processes: 1 }, max_budget_usd: 0.2"),
    );
    const fleet = await startFleetInProcess(harness, file);
    const ahead = await waitUntil("a pre-started claude", async () => prestartedPid(file));
    const { job } = await fleet.jobs.trigger(triggerAgentOne);
    const ended = await fleet.jobs.wait(job.id);
    expect(ended.outcome).toMatchObject({
      code: "budget_exceeded",
      message: "The spending limit of this job is reached (max_budget_usd: $0.2).",
    });
    expect(countDirectCalls(harness)).toBe(2);
    expect(ended.cost_usd).toBeGreaterThanOrEqual(2 * costPerCallUsd);
    expect(Number(readFileSync(join(harness.workspace, "pid"), "utf8"))).toBe(ahead);
  });
});

function prestartedPid(file: string): number | undefined {
  const folder = join(dirname(file), ".herdctl", "live");
  const tokens = existsSync(folder) ? readdirSync(folder) : [];
  return tokens.filter((name) => name.startsWith("warm-")).flatMap(processesWithMarker)[0];
}
