import { expect, test } from "vitest";
import { startHttpHarness } from "./http-harness.ts";
import { connect, sendRequest, startSocketHarness } from "./socket-harness.ts";

function cost(cost_usd: number, model: string) {
  const tokens = {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  return { cost_usd, usage: { ...tokens, models: { [model]: { ...tokens, cost_usd } } } };
}

test("groups costs by agent, schedule and model with every requested day", async () => {
  const { fleet, socket } = await startSocketHarness();
  const end = async (agent: string, usd: number, model: string, schedule?: string) => {
    const { job } = await fleet.jobs.trigger({ agent, prompt: "p", schedule });
    await fleet.finishJob(await fleet.startJob(job), cost(usd, model));
  };
  await end("coder", 0.1, "opus");
  await end("coder", 0.2, "haiku", "nightly");
  await end("writer", 1, "opus");

  const client = await connect(socket);
  const byAgent = await client.costs.get({ by: "agent", days: 7 });
  expect(byAgent.days).toHaveLength(7);
  expect(byAgent.total).toMatchObject({ usd: 1.3, runs: 3, input_tokens: 30, output_tokens: 15 });
  expect(byAgent.total.usd_by_day).toEqual([0, 0, 0, 0, 0, 0, 1.3]);
  expect(byAgent.rows.map(({ agent, usd, runs }) => [agent, usd, runs])).toEqual([
    ["writer", 1, 1],
    ["coder", 0.3, 2],
  ]);
  const bySchedule = await client.costs.get({ by: "schedule", days: 1, agent: "coder" });
  expect(bySchedule.rows.map(({ schedule, usd }) => [schedule, usd])).toEqual([
    ["nightly", 0.2],
    [null, 0.1],
  ]);
  const byModel = await client.costs.get({ by: "model", days: 1 });
  expect(byModel.rows.map(({ model, usd }) => [model, usd])).toEqual([
    ["opus", 1.1],
    ["haiku", 0.2],
  ]);
  const { json } = await sendRequest(socket, "GET", "/v1/costs");
  expect(json).toMatchObject({ total: { usd: 1.3 }, days: { length: 30 } });
  expect((await sendRequest(socket, "GET", "/v1/costs?by=person")).status).toBe(400);
});

test("returns the budgets of the fleet and each agent with the spending", async () => {
  const harness = await startHttpHarness({
    agents: `  - { name: coder, default_prompt: p, budget: { daily_usd: 2 } }
  - { name: writer }`,
  });
  const { timezone, total } = await harness.fleet.costs.get({ by: "agent", days: 1 });
  expect(timezone).toMatch(/./);
  expect(total).toMatchObject({ usd: 0, daily_limit_usd: null });
  const own = await harness.fleet.costs.get({ by: "agent", days: 1, agent: "coder" });
  expect(own.total.daily_limit_usd).toBe(2);
});
