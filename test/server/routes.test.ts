import { createApp } from "@herdctl/server";
import { expect, onTestFinished, test } from "vitest";
import { routes } from "../../packages/protocol/src/client/routes.ts";
import { FakeFleet } from "./fake-fleet.ts";
import { sendRequest, startSocketHarness } from "./socket-harness.ts";

const errorsOf = (json: unknown) => (json as { errors: Record<string, string>[] }).errors;

test("answers an unknown route like every other error", async () => {
  const { socket } = await startSocketHarness();
  for (const [method, path] of [
    ["GET", "/v2/status"],
    ["DELETE", "/v1/status"],
    ["GET", "/"],
  ] as const) {
    const { status, json } = await sendRequest(socket, method, path);
    expect(status).toBe(404);
    expect(errorsOf(json)).toMatchObject([
      { code: "route_not_found", message: `there is no ${method} ${path}` },
    ]);
  }
});

test("reports all problems of a request with their paths", async () => {
  const { socket } = await startSocketHarness();
  const body = JSON.stringify({ agent: 7, promt: "x" });
  const { status, json } = await sendRequest(socket, "POST", "/v1/jobs", { body });
  expect(status).toBe(400);
  expect(errorsOf(json).map(({ code, path }) => [code, path])).toEqual([
    ["request_invalid", "body.agent"],
    ["request_invalid", "body"],
  ]);
  expect(errorsOf(json)[1]?.message).toContain("promt");
  expect(errorsOf(json).every(({ hint }) => hint)).toBe(true);
});

test.each([
  ["GET", "/v1/jobs?limit=0", undefined, "query.limit"],
  ["GET", "/v1/jobs?limit=many", undefined, "query.limit"],
  ["GET", "/v1/jobs?since=yesterday", undefined, "query.since"],
  ["GET", "/v1/jobs?colour=red", undefined, "query"],
  ["GET", "/v1/jobs/x/wait?timeout=-1", undefined, "query.timeout"],
  ["GET", "/v1/jobs/x/output?from=-1", undefined, "query.from"],
  ["POST", "/v1/jobs", "{", "body"],
  ["POST", "/v1/jobs", "[]", "body"],
  ["POST", "/v1/jobs", "", "body.agent"],
  ["POST", "/v1/approvals/x/answer", `{"decision":"perhaps","note":"me"}`, "body.decision"],
  ["POST", "/v1/approvals/x/answer", `{"decision":"deny","reply":"no","note":"me"}`, "body"],
  ["POST", "/v1/approvals/x/answer", `{"note":"me"}`, "body"],
])("refuses %s %s with %s because of its %s", async (method, path, body, part) => {
  const { socket } = await startSocketHarness();
  const { status, json } = await sendRequest(socket, method, path, { body });
  expect(status).toBe(400);
  expect(errorsOf(json)).toMatchObject([{ code: "request_invalid", path: part }]);
});

test("answers 404 for a missing job on every route", async () => {
  const { socket } = await startSocketHarness();
  for (const [method, path] of [
    ["GET", "/v1/jobs/job-none"],
    ["GET", "/v1/jobs/job-none/wait"],
    ["GET", "/v1/jobs/job-none/output"],
    ["GET", "/v1/jobs/..%2F..%2Fetc/output"],
    ["POST", "/v1/jobs/job-none/cancel"],
  ] as const) {
    const { status, json } = await sendRequest(socket, method, path);
    expect([path, status, errorsOf(json)[0]?.code]).toEqual([path, 404, "job_not_found"]);
  }
});

test("reports a bug without internal details", async () => {
  const { fleet, socket, bugs } = await startSocketHarness();
  await fleet.close();
  const { status, json, text } = await sendRequest(socket, "GET", "/v1/jobs");
  expect(status).toBe(500);
  expect(errorsOf(json)).toMatchObject([{ code: "bug" }]);
  expect(text).not.toContain(fleet.stateDir);
  expect(bugs).toMatchObject([{ message: expect.stringContaining("is not open") }]);
});

test("accepts a prompt of four mebibytes, but no longer prompt and no larger body", async () => {
  const { fleet, socket } = await startSocketHarness();
  const trigger = (prompt: string) =>
    sendRequest(socket, "POST", "/v1/jobs", { body: JSON.stringify({ agent: "coder", prompt }) });
  const most = 4 * 1024 * 1024;
  const taken = await trigger(`go${"\n".repeat(most - 2)}`);
  expect(taken.status).toBe(200);
  expect((await fleet.jobs.list({ limit: 1 })).jobs[0]?.prompt).toHaveLength(most);

  const long = await trigger("ä".repeat(most / 2 + 1));
  expect([long.status, errorsOf(long.json)[0]?.path]).toEqual([400, "body.prompt"]);

  const large = await trigger("x".repeat(3 * most));
  expect([large.status, errorsOf(large.json)[0]?.code]).toEqual([413, "request_too_large"]);

  const body = JSON.stringify({ note: "x".repeat(most / 4), decision: "allow" });
  const answer = await sendRequest(socket, "POST", "/v1/approvals/x/answer", { body });
  expect(answer.status).toBe(413);
  const headers = { "transfer-encoding": "chunked" };
  const chunked = await sendRequest(socket, "POST", "/v1/approvals/x/answer", { body, headers });
  expect(chunked.status).toBe(413);
  expect((await fleet.jobs.list({ limit: 10 })).jobs).toHaveLength(1);
});

test.each(["", "evil.example", "a b", "[::1", "x:99999999"])(
  "ignores the host header %j",
  async (host) => {
    const { socket } = await startSocketHarness();
    const { status, json } = await sendRequest(socket, "GET", "/v1/ping", { headers: { host } });
    expect([status, json]).toEqual([200, { api: 1 }]);
  },
);

test("answers without a body when there is no result", async () => {
  const { socket } = await startSocketHarness();
  const { status, text } = await sendRequest(socket, "POST", "/v1/agents/coder/pause");
  expect([status, text]).toEqual([204, ""]);
});

test("returns the job in its current state when the waiting time ends", async () => {
  const { fleet, socket } = await startSocketHarness();
  const { job } = await fleet.jobs.trigger({ agent: "coder" });
  const began = Date.now();
  const { json } = await sendRequest(socket, "GET", `/v1/jobs/${job.id}/wait?timeout=0.1`);
  expect(json).toEqual(job);
  expect(Date.now() - began).toBeGreaterThanOrEqual(95);
});

test("contains every call, its parameters and its responses", async () => {
  const { socket } = await startSocketHarness();
  const { status, json } = await sendRequest(socket, "GET", "/v1/openapi.json");
  expect(status).toBe(200);
  const { paths } = json as { paths: Record<string, Record<string, object>> };
  for (const [method, path] of Object.values(routes)) {
    const operation = paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
    expect(operation, path).toMatchObject({ summary: expect.any(String) });
  }
  expect(paths["/v1/jobs"]?.post).toMatchObject({
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: { $ref: "#/components/schemas/TriggerRequest" } },
      },
    },
    responses: {
      200: {
        content: { "application/json": { schema: { $ref: "#/components/schemas/Admission" } } },
      },
    },
  });
  expect(paths["/v1/jobs/{id}"]?.get).toMatchObject({ parameters: [{ name: "id", in: "path" }] });
});

test("serves requests without a socket as well", async () => {
  const fleet = await FakeFleet.open();
  onTestFinished(() => fleet.close());
  const answer = await createApp(fleet).request("/v1/status");
  expect(await answer.json()).toMatchObject({ fleet: { name: "small" } });
});

test("refuses keys and amounts that cannot be stored, and unknown agents, as the caller's mistake", async () => {
  const { socket, bugs } = await startSocketHarness();
  const statusOf = async (method: string, path: string, body: unknown) => {
    const answer = await sendRequest(socket, method, path, { body: JSON.stringify(body) });
    return [answer.status, errorsOf(answer.json)[0]?.code];
  };
  for (const key of ["", "x".repeat(501), "a\0b", "\ud800", "\n"]) {
    const answer = await statusOf("POST", "/v1/jobs", { agent: "coder", key });
    expect(answer).toEqual([400, "request_invalid"]);
  }
  for (const body of [{}, { usd: 1e308 }, { jobs: 2 ** 53 - 1 }, { tokens: 1e300 }])
    expect(await statusOf("POST", "/v1/budget/raise", body)).toEqual([400, "request_invalid"]);
  const unknown: [method: string, path: string, body?: unknown][] = [
    ["POST", "/v1/jobs", { agent: "nobody", prompt: "x" }],
    ["POST", "/v1/agents/nobody/pause"],
    ["POST", "/v1/agents/nobody/cancel", {}],
    ["GET", "/v1/agents/nobody"],
    ["POST", "/v1/budget/raise", { agent: "nobody", usd: 1 }],
  ];
  for (const [method, path, body] of unknown)
    expect([path, ...(await statusOf(method, path, body))]).toEqual([path, 404, "agent_not_found"]);
  const wrong = await sendRequest(socket, "GET", "/v1/jobs?cursor=x%201");
  expect([wrong.status, errorsOf(wrong.json)[0]]).toMatchObject([400, { code: "usage" }]);
  expect(JSON.stringify(wrong.json)).not.toContain("--help");
  const claimed = { agent: "coder", prompt: "x", trigger: "cron" };
  expect(await statusOf("POST", "/v1/jobs", claimed)).toEqual([400, "request_invalid"]);
  expect(bugs).toEqual([]);
});
