import { expect, test } from "vitest";
import { chainOver, delegate, member } from "../herd-tools/delegating.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { stage } from "../support/stage.ts";
import { agentWithHook, deliver, webhookSecret } from "../webhooks/deliver.ts";

const everyone = Array.from({ length: 6 }, (_, index) => index);

test("whoever asks, and in whatever loop, no more jobs run than the budget of the day has", async () => {
  const plain = await stage({ mode: "obedient" });
  const on = { ...plain, env: { ...plain.env, SECRET: webhookSecret } };
  const file = fleetFile(
    on,
    agentWithHook("prompt: 'Look at {{payload.issue.title}}'"),
    "budget: { daily_jobs: 3 }, max_concurrent: 2",
  );
  const fleet = await startFleet(on, file);
  const asked = await Promise.all([
    ...everyone.map((index) => deliver(fleet, `issue ${index}`)),
    ...everyone.map(async (index) => {
      const { job } = await fleet.trigger({
        trigger: "manual",
        agent: "coder",
        prompt: `by hand ${index}`,
      });
      return job;
    }),
  ]);
  const ended = await Promise.all(asked.map(({ id }) => fleet.wait(id)));
  const codes = ended.map(({ outcome }) => outcome?.code);
  expect(codes.filter((code) => code === "success")).toHaveLength(3);
  expect(codes.filter((code) => code === "budget_exceeded")).toHaveLength(9);
  expect(on.rehearsal.ledger.main).toHaveLength(3);
});

test("a job that fails again and again costs as many tries as it may have, and no more", async () => {
  const on = await stage({
    script: { rules: [{ reply: "Never.", fault: { status: 529 } }] },
  });
  const agents = "  - { name: coder, runtime: cli, retry: { max_attempts: 2, backoff: 100ms } }";
  const fleet = await startFleet(on, fleetFile(on, agents), {
    env: { ...on.env, CLAUDE_CODE_MAX_RETRIES: "0" },
  });
  const { job } = await fleet.trigger({ trigger: "manual", agent: "coder", prompt: "go" });
  const ended = await fleet.wait(job.id);
  expect(ended).toMatchObject({ status: "failed", attempts: 2, outcome: { code: "overloaded" } });
  const calls = on.rehearsal.ledger.main.length;
  expect(calls).toBeLessThanOrEqual(4);
});

test("an agent that hands on to all it can, each of whom does the same, ends within the chain", async () => {
  const on = await stage({ mode: "obedient" });
  const names = ["a", "b", "c", "d"];
  const told = (name: string) =>
    names
      .filter((other) => other !== name)
      .map((agent) => delegate({ agent, prompt: "Go on.", wait: false }))
      .join("\n");
  const agents = names.map((name) => member({ name, may: ["*"], told: told(name) })).join("\n");
  const chain = "chain: { max_depth: 3, max_jobs: 5, max_cost_usd: 5 }";
  const fleet = await startFleet(on, fleetFile(on, agents, `${chain}, max_concurrent: 4`));
  const { job } = await fleet.trigger({ trigger: "manual", agent: "a", prompt: "begin" });
  const all = await chainOver(fleet, job.id);
  const ran = all.filter(({ status }) => status === "completed");
  expect(ran).toHaveLength(5);
  const refused = all.filter(({ status }) => status === "skipped");
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused.map(({ outcome }) => outcome?.code))).toEqual(new Set(["chain_limit"]));
});
