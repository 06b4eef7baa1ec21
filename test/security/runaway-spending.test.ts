import { expect, test } from "vitest";
import { chainAgentYaml, delegatePrompt, waitForChain } from "../agent-tools/delegation-helpers.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { agentWithHook, deliverIssue, webhookSecret } from "../webhooks/issue-delivery.ts";

const agentIndexes = Array.from({ length: 6 }, (_, index) => index);

test("starts no more jobs than the day's budget, whatever triggers them in a loop", async () => {
  const plain = await startHarness({ mode: "obedient" });
  const harness = { ...plain, env: { ...plain.env, SECRET: webhookSecret } };
  const file = writeFleetFile(
    harness,
    agentWithHook("prompt: 'Look at {{payload.issue.title}}'"),
    "budget: { daily_jobs: 3 }, max_concurrent: 2",
  );
  const fleet = await startFleetInProcess(harness, file);
  const asked = await Promise.all([
    ...agentIndexes.map((index) => deliverIssue(fleet, `issue ${index}`)),
    ...agentIndexes.map(async (index) => {
      const { job } = await fleet.jobs.trigger({
        agent: "coder",
        prompt: `by hand ${index}`,
      });
      return job;
    }),
  ]);
  const ended = await Promise.all(asked.map(({ id }) => fleet.jobs.wait(id)));
  const codes = ended.map(({ outcome }) => outcome?.code);
  expect(codes.filter((code) => code === "success")).toHaveLength(3);
  expect(codes.filter((code) => code === "budget_exceeded")).toHaveLength(9);
  expect(harness.rehearsal.ledger.main).toHaveLength(3);
});

test("ends a repeatedly failing job after its allowed attempts", async () => {
  const harness = await startHarness({
    script: { rules: [{ reply: "Never.", fault: { status: 529 } }] },
  });
  const agents = "  - { name: coder, runtime: cli, retry: { max_attempts: 2, backoff: 100ms } }";
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents), {
    env: { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "0" },
  });
  const { job } = await fleet.jobs.trigger({ agent: "coder", prompt: "go" });
  const ended = await fleet.jobs.wait(job.id);
  expect(ended).toMatchObject({ status: "failed", attempts: 2, outcome: { code: "overloaded" } });
  const calls = harness.rehearsal.ledger.main.length;
  expect(calls).toBeLessThanOrEqual(4);
});

test("ends a chain of agents that delegate to all others within its limits", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const names = ["a", "b", "c", "d"];
  const delegatePrompts = (name: string) =>
    names
      .filter((other) => other !== name)
      .map((agent) => delegatePrompt({ agent, prompt: "Go on.", wait: false }))
      .join("\n");
  const agents = names
    .map((name) => chainAgentYaml({ name, mayTrigger: ["*"], systemPrompt: delegatePrompts(name) }))
    .join("\n");
  const chain = "chain: { max_depth: 3, max_jobs: 5, max_cost_usd: 5 }";
  const fleet = await startFleetInProcess(
    harness,
    writeFleetFile(harness, agents, `${chain}, max_concurrent: 4`),
  );
  const { job } = await fleet.jobs.trigger({ agent: "a", prompt: "begin" });
  const all = await waitForChain(fleet, job.id);
  const ran = all.filter(({ status }) => status === "completed");
  expect(ran).toHaveLength(5);
  const refused = all.filter(({ status }) => status === "skipped");
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused.map(({ outcome }) => outcome?.code))).toEqual(new Set(["chain_limit"]));
});
