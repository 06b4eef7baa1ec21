import { expect, test } from "vitest";
import { sendRequest, startSocketHarness } from "./socket-harness.ts";

test("filters jobs by agent, schedule, status and time, page by page", async () => {
  const { fleet, socket } = await startSocketHarness();
  const manual = { trigger: "manual", agent: "coder" } as const;
  const { job: planned } = await fleet.trigger({ ...manual, schedule: "nightly" });
  const { job: other } = await fleet.trigger(manual);
  await fleet.cancel(other.id);
  await fleet.trigger({ ...manual, agent: "writer", prompt: "write" });

  const found = async (query: string) => {
    const { json } = await sendRequest(socket, "GET", `/v1/jobs?${query}`);
    return json as { jobs: { id: string }[]; next: string | null };
  };
  const ids = async (query: string) => (await found(query)).jobs.map(({ id }) => id);
  expect(await ids("schedule=nightly")).toEqual([planned.id]);
  expect(await ids("agent=coder&status=cancelled")).toEqual([other.id]);
  expect(await ids(`until=${planned.created_at}`)).toEqual([]);
  const later = new Date(Date.now() + 60_000).toISOString();
  expect(await ids(`until=${later}`)).toHaveLength(3);
  expect(await ids(`since=${later}`)).toEqual([]);

  const first = await found("limit=2");
  const rest = await found(`limit=2&cursor=${first.next}`);
  expect([first.jobs.length, rest.jobs.length, rest.next]).toEqual([2, 1, null]);
  expect((await sendRequest(socket, "GET", "/v1/jobs?until=yesterday")).status).toBe(400);
});

test("filters jobs by session", async () => {
  const { fleet, socket } = await startSocketHarness();
  const say = async (prompt: string, session: string) => {
    const { job } = await fleet.trigger({ trigger: "manual", agent: "coder", prompt });
    await fleet.recordSession(job, session);
  };
  await say("first", "one");
  await say("else", "two");
  await say("second", "one");
  const { json } = await sendRequest(socket, "GET", "/v1/jobs?session=one");
  expect(json).toMatchObject({ jobs: [{ prompt: "second" }, { prompt: "first" }], next: null });
  expect((await sendRequest(socket, "GET", "/v1/jobs?session=none")).json).toMatchObject({
    jobs: [],
  });
});

test("lists agents and finds one by name", async () => {
  const { socket } = await startSocketHarness();
  const { json } = await sendRequest(socket, "GET", "/v1/agents");
  expect(json).toMatchObject({ agents: [{ name: "coder" }, { name: "writer" }] });
  expect((await sendRequest(socket, "GET", "/v1/agents/writer")).json).toMatchObject({
    name: "writer",
  });
  expect((await sendRequest(socket, "GET", "/v1/agents/nobody")).json).toMatchObject({
    errors: [{ code: "agent_not_found" }],
  });
});
