import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { type Stage, stage } from "../support/stage.ts";
import { callUsd, directCalls, model, scriptFor } from "./calls.ts";

const manual = { trigger: "manual" as const, prompt: "spend" };
const one = { ...manual, agent: "one" };

function agentLine(name: string, more = ""): string {
  return `  - { name: ${name}, model: ${model}, retry: { max_attempts: 1 }${more && `, ${more}`} }`;
}

/** A tool that makes its calls and then waits for a file. */
function patientCalls(count: number): string {
  return `${directCalls(count)}; echo x > made; while [ ! -e go ]; do sleep 0.05; done`;
}

function has(on: Stage, name: string): () => Promise<boolean> {
  return async () => existsSync(join(on.workspace, name));
}

function directCount(on: Stage): number {
  const { entries } = on.rehearsal.ledger;
  return entries.filter(({ prompt, usage }) => usage && prompt?.includes("direct call")).length;
}

describe("under a fleet", () => {
  test("a job whose runner is killed is recorded with what was metered, and the day closes", async () => {
    const on = await stage({ script: scriptFor(patientCalls(3)) });
    const fleet = await startFleet(
      on,
      fleetFile(on, agentLine("one"), "budget: { daily_usd: 0.3 }"),
    );
    const { job } = await fleet.trigger(one);
    await until("the calls", has(on, "made"));
    const running = await fleet.job(job.id);
    process.kill(running?.job.runner?.pid ?? 0, "SIGKILL");
    const ended = await until("the attempt to be settled", async () => {
      const found = await fleet.job(job.id);
      return found?.attempts[0]?.finished_at ? found : undefined;
    });
    expect(ended.attempts[0]?.cost_usd).toBeGreaterThanOrEqual(3 * callUsd);
    await fleet.wait(job.id);
    const { job: next } = await fleet.trigger(one);
    expect(next).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });
  });

  test("what one run spends is no longer there for another that runs at the same time", async () => {
    const wait = `${patientCalls(0)}; ${directCalls(5)}`;
    const on = await stage({ script: scriptFor(wait) });
    const agents = agentLine("one", "max_concurrent: 2");
    const fleet = await startFleet(on, fleetFile(on, agents, "budget: { daily_usd: 0.4 }"));
    const jobs = await Promise.all([fleet.trigger(one), fleet.trigger(one)]);
    await until("both to run", async () => (await fleet.status()).fleet.running === 2);
    await until("a tool of theirs", has(on, "made"));
    writeFileSync(join(on.workspace, "go"), "");
    const ended = await Promise.all(jobs.map(({ job }) => fleet.wait(job.id)));
    const codes = ended.map(({ outcome }) => outcome?.code);
    expect(codes).toEqual(["budget_exceeded", "budget_exceeded"]);
    // Each may overrun by the one call whose cost was not known when it began.
    expect(directCount(on)).toBeLessThanOrEqual(6);
    const { fleet: day } = await fleet.budget();
    expect(day.spent.usd).toBeLessThanOrEqual(0.4 + 2 * callUsd);
  });

  test("raising a limit lets a running job continue", async () => {
    const command = `${patientCalls(2)}; ${directCalls(2)}`;
    const on = await stage({ script: scriptFor(command) });
    const fleet = await startFleet(
      on,
      fleetFile(on, agentLine("one"), "budget: { daily_usd: 0.1 }"),
    );
    const { job } = await fleet.trigger(one);
    await until("the calls", has(on, "made"));
    await fleet.raiseBudget(undefined, { usd: 5 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    writeFileSync(join(on.workspace, "go"), "");
    const ended = await fleet.wait(job.id);
    expect(ended.outcome?.code).toBe("success");
    expect(directCount(on)).toBeGreaterThanOrEqual(3);
  });

  test("each turn of a live session is recorded with its own cost", async () => {
    const on = await stage({ script: scriptFor(directCalls(1)) });
    const agents = agentLine("one", "session: { mode: persistent, live: 60s }");
    const fleet = await startFleet(on, fleetFile(on, agents));
    const costs: number[] = [];
    let resume: string | undefined;
    for (let turn = 0; turn < 2; turn += 1) {
      const { job } = await fleet.trigger({ ...one, live: true, resume });
      const ended = await fleet.wait(job.id);
      expect(ended.outcome?.code).toBe("success");
      costs.push(ended.cost_usd ?? 0);
      resume = ended.session_id ?? undefined;
    }
    for (const usd of costs) expect(usd).toBeGreaterThanOrEqual(callUsd);
    expect(Math.abs((costs[1] ?? 0) - (costs[0] ?? 0))).toBeLessThan(callUsd);
  });
});
