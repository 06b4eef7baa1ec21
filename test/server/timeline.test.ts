import { expect, test } from "vitest";
import { connect, sendRequest, startSocketHarness } from "./socket-harness.ts";

test("returns a short list of runs since a time, for one agent or all", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const since = new Date(Date.now() - 60_000).toISOString();
  const first = await client.jobs.trigger({
    agent: "coder",
    prompt: "A long story.",
  });
  const second = await client.jobs.trigger({ agent: "writer", prompt: "Another." });
  await fleet.finishJob(await fleet.startJob(first.job), { cost_usd: 0.25, usage: null });

  const path = `/v1/timeline?since=${since}`;
  const { status, json, text } = await sendRequest(socket, "GET", path);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    complete: true,
    jobs: [
      { id: second.job.id, agent: "writer", status: "pending", outcome: null },
      { id: first.job.id, agent: "coder", status: "completed", outcome: "success", cost_usd: 0.25 },
    ],
  });
  expect(text).not.toContain("A long story.");
  const one = await sendRequest(socket, "GET", `${path}&agent=writer`);
  expect(one.json).toMatchObject({ jobs: [{ id: second.job.id }] });
  const later = new Date(Date.now() + 60_000).toISOString();
  expect((await sendRequest(socket, "GET", `/v1/timeline?since=${later}`)).json).toMatchObject({
    jobs: [],
  });
  expect((await sendRequest(socket, "GET", "/v1/timeline")).status).toBe(400);
});

test("returns the newest runs and the number of the others", async () => {
  const { fleet, socket } = await startSocketHarness();
  const prompts = Array.from({ length: 3_001 }, (_, index) => String(index));
  const agent = "writer";
  await Promise.all(prompts.map((prompt) => fleet.jobs.trigger({ agent, prompt })));
  const { json } = await sendRequest(socket, "GET", "/v1/timeline?since=2020-01-01T00:00:00Z");
  expect(json).toMatchObject({ complete: false });
  expect(json).toHaveProperty("jobs.length", 3_000);
});
