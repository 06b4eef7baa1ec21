import { expect, test } from "vitest";
import { sendRequest, startSocketHarness } from "./socket-harness.ts";

test("filters jobs by agent, schedule, status and time, page by page", async () => {
  const { fleet, socket } = await startSocketHarness();
  const manual = { agent: "coder" } as const;
  const { job: planned } = await fleet.jobs.trigger({ ...manual, schedule: "nightly" });
  const { job: other } = await fleet.jobs.trigger(manual);
  await fleet.jobs.cancel(other.id);
  await fleet.jobs.trigger({ ...manual, agent: "writer", prompt: "write" });

  const found = async (query: string) => {
    const { json } = await sendRequest(socket, "GET", `/v1/jobs?${query}`);
    return json as { jobs: { id: string }[]; next_cursor: string | null };
  };
  const ids = async (query: string) => (await found(query)).jobs.map(({ id }) => id);
  expect(await ids("schedule=nightly")).toEqual([planned.id]);
  expect(await ids("agent=coder&status=cancelled")).toEqual([other.id]);
  expect(await ids(`until=${planned.created_at}`)).toEqual([]);
  const later = new Date(Date.now() + 60_000).toISOString();
  expect(await ids(`until=${later}`)).toHaveLength(3);
  expect(await ids(`since=${later}`)).toEqual([]);

  const first = await found("limit=2");
  const rest = await found(`limit=2&cursor=${first.next_cursor}`);
  expect([first.jobs.length, rest.jobs.length, rest.next_cursor]).toEqual([2, 1, null]);
  expect((await sendRequest(socket, "GET", "/v1/jobs?until=yesterday")).status).toBe(400);
});

test("filters jobs by session", async () => {
  const { fleet, socket } = await startSocketHarness();
  const say = async (prompt: string, session: string) => {
    const { job } = await fleet.jobs.trigger({ agent: "coder", prompt });
    await fleet.recordSession(job, session);
  };
  await say("first", "one");
  await say("else", "two");
  await say("second", "one");
  const { json } = await sendRequest(socket, "GET", "/v1/jobs?session=one");
  expect(json).toMatchObject({
    jobs: [{ prompt: "second" }, { prompt: "first" }],
    next_cursor: null,
  });
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
