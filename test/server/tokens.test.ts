import type { NewAccessToken } from "@herdctl/core";
import { scopes } from "@herdctl/core/light";
import { expect, test } from "vitest";
import { type RouteName, routes } from "../../packages/server/src/contract/routes.ts";
import { allows, routeScopes } from "../../packages/server/src/contract/scopes.ts";
import { accessOf, bearer, endOf, type PortStage, portStage } from "./port-stage.ts";

const agents = `  - { name: coder, default_prompt: Do it. }
  - { name: writer, default_prompt: Write it. }`;

async function tokenOf({ fleet }: PortStage, wanted: Partial<NewAccessToken> = {}) {
  const { secret } = await fleet.createToken({ name: "ci", scope: "read", ...wanted });
  return bearer(secret);
}

const names = Object.keys(routes) as RouteName[];

/** With bodies that no route accepts, and jobs that do not exist: nothing is done but refused. */
function pathOf(name: RouteName): string {
  return routes[name][1].replaceAll(/:\w+/g, "none");
}

test.each(scopes)("a token with the scope %s opens exactly its routes", async (scope) => {
  const on = await portStage();
  const headers = await tokenOf(on, { scope });
  const refused = [];
  for (const name of names) {
    const [method] = routes[name];
    if (name === "events") continue;
    const body = method === "POST" ? '{"unknown":1}' : undefined;
    const answer = await on.send(method, pathOf(name), { headers, body });
    if (answer.status === 403) refused.push(name);
    expect([name, answer.status]).not.toEqual([name, 401]);
  }
  const isClosed = (name: RouteName) =>
    name !== "events" && !allows(scope, routeScopes[name] ?? "admin");
  expect(refused).toEqual(names.filter(isClosed));
});

test("a route that the table does not list is for admin alone", () => {
  const listed = Object.keys(routeScopes);
  const unlisted = names.filter((name) => !listed.includes(name));
  expect(unlisted).toEqual(expect.arrayContaining(["audit", "tokens", "createToken", "shutdown"]));
  for (const name of unlisted) expect(allows("answer", routeScopes[name] ?? "admin")).toBe(false);
});

test("a token triggers and answers as its scope says, under its own name", async () => {
  const on = await portStage({ agents });
  const trigger = await tokenOf(on, { scope: "trigger" });
  const body = JSON.stringify({ agent: "coder" });
  const given = await on.send("POST", "/v1/jobs", { headers: trigger, body });
  expect(given.status).toBe(200);
  expect(JSON.parse(given.text).job).toMatchObject({ triggered_by: "token:ci" });
  expect(await accessOf(on.send, trigger)).toEqual({
    identity: "token:ci",
    scope: "trigger",
    agents: null,
  });
  const answer = await tokenOf(on, { name: "answers", scope: "answer" });
  expect((await on.send("POST", "/v1/jobs", { headers: answer, body })).status).toBe(403);
});

test("only an admin may have a prompt expanded, which can read files of the machine", async () => {
  const on = await portStage({ agents });
  const body = JSON.stringify({ agent: "coder", prompt: "@/etc/hostname", expand: true });
  const trigger = await tokenOf(on, { scope: "trigger" });
  const refused = await on.send("POST", "/v1/jobs", { headers: trigger, body });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("`expand` needs")]);
  const admin = await tokenOf(on, { name: "operator", scope: "admin" });
  expect((await on.send("POST", "/v1/jobs", { headers: admin, body })).status).toBe(200);
});

test("a token ends when it expires or is revoked, and its streams with it", async () => {
  const on = await portStage();
  const soon = new Date(Date.now() + 1_500).toISOString();
  const short = await tokenOf(on, { name: "short", expires_at: soon });
  const headers = await tokenOf(on);
  const stream = await fetch(`http://127.0.0.1:${on.port}/v1/events`, { headers });
  for (const one of [short, headers]) {
    expect((await on.send("GET", "/v1/status", { headers: one })).status).toBe(200);
  }
  const [token] = await on.fleet.tokens();
  expect(token).toMatchObject({ name: "ci", last_used_at: expect.any(String) });
  await on.fleet.revokeToken("ci");
  expect((await on.send("GET", "/v1/status", { headers })).status).toBe(401);
  expect(await endOf(stream)).toBe("cut off");
  expect((await on.send("GET", "/v1/status", { headers: short })).status).toBe(401);
});

test("a token cannot be made with a name that is taken, odd, or the fleet's own", async () => {
  const { fleet } = await portStage({ agents });
  await fleet.createToken({ name: "ci", scope: "read" });
  const wrong: [Partial<NewAccessToken>, string][] = [
    [{ name: "ci" }, "token_exists"],
    [{ name: "admin" }, "usage"],
    [{ name: "A b" }, "usage"],
    [{ agents: ["nobody"] }, "usage"],
    [{ scope: "admin", agents: ["coder"] }, "usage"],
    [{ expires_at: "2020-01-01T00:00:00.000Z" }, "usage"],
  ];
  for (const [more, code] of wrong) {
    const wanted = { name: "other", scope: "read" as const, ...more };
    await expect(fleet.createToken(wanted), JSON.stringify(more)).rejects.toMatchObject({ code });
  }
});

test("a token for one agent sees and triggers that agent alone", async () => {
  const on = await portStage({ agents });
  const { fleet, send } = on;
  const { job: hidden } = await fleet.trigger({ trigger: "manual", agent: "writer" });
  const { job: own } = await fleet.trigger({ trigger: "manual", agent: "coder" });
  const headers = await tokenOf(on, { scope: "trigger", agents: ["coder"] });
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

test("a token for one agent hears of no other agent's jobs", async () => {
  const on = await portStage({ agents });
  const headers = await tokenOf(on, { agents: ["coder"] });
  const stop = new AbortController();
  const url = `http://127.0.0.1:${on.port}/v1/events`;
  const stream = await fetch(url, { headers, signal: stop.signal });
  await on.fleet.trigger({ trigger: "manual", agent: "writer" });
  await on.fleet.trigger({ trigger: "manual", agent: "coder" });
  let seen = "";
  for await (const chunk of stream.body ?? []) {
    seen += Buffer.from(chunk).toString();
    if (seen.includes("job:created")) break;
  }
  stop.abort();
  expect(seen).toContain('"agent":"coder"');
  expect(seen).not.toContain("writer");
});
