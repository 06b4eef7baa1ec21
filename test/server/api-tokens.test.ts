import { type NewAccessToken, scopes } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { type RouteName, routes } from "../../packages/protocol/src/client/routes.ts";
import { isScopeAllowed, routeScopes } from "../../packages/server/src/contract/scopes.ts";
import {
  bearer,
  type HttpHarness,
  readAccess,
  readToEnd,
  startHttpHarness,
} from "./http-harness.ts";

const agents = `  - { name: coder, default_prompt: Do it. }
  - { name: writer, default_prompt: Write it. }`;

async function createToken({ fleet }: HttpHarness, wanted: Partial<NewAccessToken> = {}) {
  const { secret } = await fleet.tokens.create({ name: "ci", scope: "read", ...wanted });
  return bearer(secret);
}

const names = Object.keys(routes) as RouteName[];

/** Without valid bodies or existing jobs, so that no request changes anything. */
function pathOf(name: RouteName): string {
  return routes[name][1].replaceAll(/:\w+/g, "none");
}

test.each(scopes)("allows exactly its routes to a token with the scope %s", async (scope) => {
  const harness = await startHttpHarness();
  const headers = await createToken(harness, { scope });
  const refused = [];
  for (const name of names) {
    const [method] = routes[name];
    if (name === "events") continue;
    const body = method === "POST" ? '{"unknown":1}' : undefined;
    const answer = await harness.send(method, pathOf(name), { headers, body });
    if (answer.status === 403) refused.push(name);
    expect([name, answer.status]).not.toEqual([name, 401]);
  }
  const isClosed = (name: RouteName) =>
    name !== "events" && !isScopeAllowed(scope, routeScopes[name] ?? "admin");
  expect(refused).toEqual(names.filter(isClosed));
});

test("requires the scope admin for unlisted routes", () => {
  const listed = Object.keys(routeScopes);
  const unlisted = names.filter((name) => !listed.includes(name));
  expect(unlisted).toEqual(expect.arrayContaining(["audit", "tokens", "createToken", "shutdown"]));
  for (const name of unlisted)
    expect(isScopeAllowed("answer", routeScopes[name] ?? "admin")).toBe(false);
});

test("triggers and answers within its scope and under its own name", async () => {
  const harness = await startHttpHarness({ agents });
  const trigger = await createToken(harness, { scope: "trigger" });
  const body = JSON.stringify({ agent: "coder" });
  const given = await harness.send("POST", "/v1/jobs", { headers: trigger, body });
  expect(given.status).toBe(200);
  expect(JSON.parse(given.text).job).toMatchObject({ triggered_by: "token:ci" });
  expect(await readAccess(harness.send, trigger)).toEqual({
    identity: "token:ci",
    scope: "trigger",
    agents: null,
  });
  const answer = await createToken(harness, { name: "answers", scope: "answer" });
  expect((await harness.send("POST", "/v1/jobs", { headers: answer, body })).status).toBe(403);
});

test("lets only an admin expand a prompt, which can read local files", async () => {
  const harness = await startHttpHarness({ agents });
  const body = JSON.stringify({ agent: "coder", prompt: "@/etc/hostname", expand: true });
  const trigger = await createToken(harness, { scope: "trigger" });
  const refused = await harness.send("POST", "/v1/jobs", { headers: trigger, body });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("`expand` needs")]);
  const admin = await createToken(harness, { name: "operator", scope: "admin" });
  expect((await harness.send("POST", "/v1/jobs", { headers: admin, body })).status).toBe(200);
});

test("lets only an admin allow a request always, which writes a rule", async () => {
  const harness = await startHttpHarness({ agents });
  const answer = await createToken(harness, { scope: "answer" });
  const body = JSON.stringify({ decision: "allow", scope: "always" });
  const path = "/v1/approvals/approval-none/answer";
  const refused = await harness.send("POST", path, { headers: answer, body });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("always` needs")]);
  const admin = await createToken(harness, { name: "operator", scope: "admin" });
  expect((await harness.send("POST", path, { headers: admin, body })).status).toBe(400);
  const forJob = JSON.stringify({ decision: "allow", scope: "job" });
  const allowed = await harness.send("POST", path, { headers: answer, body: forJob });
  expect(allowed.status).toBe(400);
});

test("ends a token with its streams on expiry and revocation", async () => {
  const harness = await startHttpHarness();
  const soon = new Date(Date.now() + 1_500).toISOString();
  const short = await createToken(harness, { name: "short", expires_at: soon });
  const headers = await createToken(harness);
  const stream = await fetch(`http://127.0.0.1:${harness.port}/v1/events`, { headers });
  for (const one of [short, headers]) {
    expect((await harness.send("GET", "/v1/status", { headers: one })).status).toBe(200);
  }
  const [token] = await harness.fleet.tokens.list();
  expect(token).toMatchObject({ name: "ci", last_used_at: expect.any(String) });
  await harness.fleet.tokens.revoke("ci");
  expect((await harness.send("GET", "/v1/status", { headers })).status).toBe(401);
  expect(await readToEnd(stream)).toBe("cut off");
  expect((await harness.send("GET", "/v1/status", { headers: short })).status).toBe(401);
});

test("refuses a token with a used, invalid or reserved name", async () => {
  const { fleet } = await startHttpHarness({ agents });
  await fleet.tokens.create({ name: "ci", scope: "read" });
  const wrong: [Partial<NewAccessToken>, string][] = [
    [{ name: "ci" }, "token_exists"],
    [{ name: "admin" }, "usage"],
    [{ name: "A b" }, "usage"],
    [{ agents: ["nobody"] }, "agent_not_found"],
    [{ scope: "admin", agents: ["coder"] }, "usage"],
    [{ expires_at: "2020-01-01T00:00:00.000Z" }, "usage"],
  ];
  for (const [more, code] of wrong) {
    const wanted = { name: "other", scope: "read" as const, ...more };
    await expect(fleet.tokens.create(wanted), JSON.stringify(more)).rejects.toMatchObject({ code });
  }
});

test("limits a token of one agent to that agent", async () => {
  const harness = await startHttpHarness({ agents });
  const { fleet, send } = harness;
  const { job: hidden } = await fleet.jobs.trigger({ agent: "writer" });
  const { job: own } = await fleet.jobs.trigger({ agent: "coder" });
  const headers = await createToken(harness, { scope: "trigger", agents: ["coder"] });
  const get = async (path: string) => {
    const { status, text } = await send("GET", path, { headers });
    return [status, text.includes("writer") || text.includes(hidden.id)];
  };
  for (const path of [
    "/v1/status",
    "/v1/agents",
    "/v1/jobs",
    "/v1/timeline?since=2020-01-01T00:00:00Z",
  ]) {
    expect([path, ...(await get(path))]).toEqual([path, 200, false]);
  }
  for (const path of ["/v1/approvals", "/v1/sessions", "/v1/schedules", "/v1/deliveries"]) {
    expect([path, ...(await get(path))]).toEqual([path, 200, false]);
  }
  expect(await get(`/v1/jobs/${own.id}`)).toEqual([200, false]);
  for (const rest of ["", "/output", "/artifacts", "/chain", "/wait"]) {
    const { status, text } = await send("GET", `/v1/jobs/${hidden.id}${rest}`, { headers });
    expect([rest, status, text.includes("job_not_found")]).toEqual([rest, 404, true]);
  }
  for (const path of ["/metrics", "/v1/config", "/v1/costs", "/v1/budget", "/v1/nodes"]) {
    expect([path, (await get(path))[0]]).toEqual([path, 403]);
  }
  const trigger = async (agent: string) =>
    (await send("POST", "/v1/jobs", { headers, body: JSON.stringify({ agent }) })).status;
  expect([await trigger("coder"), await trigger("writer")]).toEqual([200, 404]);
});

test("sends a token of one agent no events of other agents", async () => {
  const harness = await startHttpHarness({ agents });
  const headers = await createToken(harness, { agents: ["coder"] });
  const stop = new AbortController();
  const url = `http://127.0.0.1:${harness.port}/v1/events`;
  const stream = await fetch(url, { headers, signal: stop.signal });
  await harness.fleet.jobs.trigger({ agent: "writer" });
  await harness.fleet.jobs.trigger({ agent: "coder" });
  let seen = "";
  for await (const chunk of stream.body ?? []) {
    seen += Buffer.from(chunk).toString();
    if (seen.includes("job:created")) break;
  }
  stop.abort();
  expect(seen).toContain('"agent":"coder"');
  expect(seen).not.toContain("writer");
});
