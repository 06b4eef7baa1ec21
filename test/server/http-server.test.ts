import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readToken } from "@herdctl/server";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import {
  bearer,
  cookieOf,
  followLoginLink,
  readAccess,
  readToEnd,
  startHttpHarness,
} from "./http-harness.ts";

test("creates the token at the first start, for this user only, and keeps it", async () => {
  const { folder, token, server, fleet } = await startHttpHarness();
  const file = join(folder, ".herdctl/token");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(token).toMatch(/^[\w-]{43}$/);
  await server.stop();
  await fleet.shutdown({ drainMs: 0 });
  const again = await startHttpHarness({ folder });
  expect(again.token).toBe(token);
  expect((await again.send("GET", "/v1/status", { headers: bearer(token) })).status).toBe(200);
});

test("refuses a token file that is blank or open to others", async () => {
  const folder = tempFolderWith({ token: "\n", other: `${"t".repeat(40)}\n` });
  expect(() => readToken(join(folder, "token"))).toThrow("does not contain a valid token");
  expect(() => readToken(folder)).toThrow("is not a file");
  readToken(join(folder, "other"));
  expect(statSync(join(folder, "other")).mode & 0o777).toBe(0o600);
});

test("signs one browser in with a link, once", async () => {
  const { access, port, send } = await startHttpHarness();
  const link = access.createLoginLink("admin", "user:test");
  expect(link?.url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/login#[\\w-]{43}$`));
  const page = await send("GET", "/login");
  expect(page.text).toContain('src="/login.js"');
  expect((await send("GET", "/login.js")).headers["content-type"]).toContain("javascript");

  const answer = await followLoginLink(send, port, link?.url ?? "");
  expect(answer.status).toBe(204);
  expect(answer.headers["set-cookie"]?.[0]).toMatch(/; HttpOnly; SameSite=Strict$/);
  const cookie = cookieOf(answer);
  expect((await send("GET", "/v1/status", { headers: { cookie } })).status).toBe(200);

  const again = await followLoginLink(send, port, link?.url ?? "");
  expect(again.status).toBe(401);
  expect(again.headers["set-cookie"]).toBeUndefined();
});

test("sets a new cookie on sign-in, whatever cookie was sent", async () => {
  const { access, port, send, signIn } = await startHttpHarness();
  const mine = await signIn();
  const link = new URL(access.createLoginLink("admin", "user:test")?.url ?? "");
  const answer = await send("POST", "/login", {
    headers: {
      "content-type": "application/json",
      origin: `http://127.0.0.1:${port}`,
      cookie: mine,
    },
    body: JSON.stringify({ code: link.hash.slice(1) }),
  });
  expect(cookieOf(answer)).not.toBe(mine);
  expect(cookieOf(answer)).toMatch(new RegExp(`^herdctl-${port}=[0-9a-f]{24}\\.`));
});

test("keeps a cookie valid across a fleet restart, but not after signing out", async () => {
  const first = await startHttpHarness();
  const cookie = await first.signIn();
  await first.server.stop();
  await first.fleet.shutdown({ drainMs: 0 });
  const { send, port } = await startHttpHarness({ folder: first.folder });
  const origin = `http://127.0.0.1:${port}`;
  expect(await readAccess(send, { cookie })).toMatchObject({
    identity: expect.stringMatching(/^login:[0-9a-f]{8}$/),
    scope: "admin",
  });
  const left = await send("POST", "/logout", { headers: { cookie, origin } });
  expect(left.headers["set-cookie"]?.[0]).toContain("Max-Age=0");
  expect((await send("GET", "/v1/access", { headers: { cookie } })).status).toBe(401);
});

test("keeps a signed-out cookie invalid after a fleet restart", async () => {
  const first = await startHttpHarness();
  const cookie = await first.signIn();
  const origin = `http://127.0.0.1:${first.port}`;
  await first.send("POST", "/logout", { headers: { cookie, origin } });
  await first.server.stop();
  await first.fleet.shutdown({ drainMs: 0 });
  const { send } = await startHttpHarness({ folder: first.folder });
  expect((await send("GET", "/v1/access", { headers: { cookie } })).status).toBe(401);
});

test("ends all cookies and their streams when everyone is signed out", async () => {
  const { fleet, port, send, signIn } = await startHttpHarness();
  const [mine, other] = [await signIn(), await signIn("read")];
  const stream = await fetch(`http://127.0.0.1:${port}/v1/events`, { headers: { cookie: other } });
  expect(stream.status).toBe(200);
  const logins = await fleet.logins.list();
  expect(logins.map(({ scope, address }) => [scope, address]).sort()).toEqual([
    ["admin", "127.0.0.1"],
    ["read", "127.0.0.1"],
  ]);
  const origin = `http://127.0.0.1:${port}`;
  const ended = await send("DELETE", "/v1/logins", { headers: { cookie: mine, origin } });
  expect([ended.status, ended.text]).toEqual([200, '{"ended":2}']);
  for (const cookie of [mine, other]) {
    expect((await send("GET", "/v1/access", { headers: { cookie } })).status).toBe(401);
  }
  expect(await readToEnd(stream)).toBe("cut off");
});

test("signs everyone out with a new token", async () => {
  const server = "token_env: HERD_TOKEN";
  const {
    server: listening,
    fleet,
    folder,
    send,
    signIn,
  } = await startHttpHarness({
    server,
    env: { HERD_TOKEN: "the-first-token-of-mine" },
  });
  const cookie = await signIn();
  expect((await send("GET", "/v1/access", { headers: { cookie } })).status).toBe(200);
  await listening.stop();
  await fleet.shutdown({ drainMs: 0 });
  const again = await startHttpHarness({ folder, env: { HERD_TOKEN: "the-second-token-of-mine" } });
  expect((await again.send("GET", "/v1/access", { headers: { cookie } })).status).toBe(401);
});

test("uses a token from the configuration instead of the generated one", async () => {
  const own = "a-token-of-my-own";
  const { folder, send } = await startHttpHarness({ server: "token_env: T", env: { T: own } });
  const status = (token: string) => send("GET", "/v1/status", { headers: bearer(token) });
  expect((await status("a-token-of-my-owN")).status).toBe(401);
  expect((await status(own)).status).toBe(200);
  expect(() => statSync(join(folder, ".herdctl/token"))).toThrow();
});

test("creates a removed token file again on reload, and signs everyone out", async () => {
  const { fleet, folder, token, send, signIn } = await startHttpHarness();
  const cookie = await signIn();
  rmSync(join(folder, ".herdctl/token"));
  await fleet.reload();
  await waitUntil("the old token to be refused", async () => {
    return (await send("GET", "/v1/access", { headers: bearer(token) })).status === 401;
  });
  expect((await send("GET", "/v1/access", { headers: { cookie } })).status).toBe(401);
  const anew = readToken(join(folder, ".herdctl/token"));
  expect((await send("GET", "/v1/access", { headers: bearer(anew) })).status).toBe(200);
});

test("accepts the configured host name behind a proxy, and the cookie only over TLS", async () => {
  const { access, send } = await startHttpHarness({ server: "allowed_hosts: [herd.example.org]" });
  const host = "herd.example.org";
  const origin = "https://herd.example.org";
  const code = new URL(access.createLoginLink("admin", "user:test")?.url ?? "").hash.slice(1);
  const body = JSON.stringify({ code });
  const answer = await send("POST", "/login", { headers: { host, origin }, body });
  expect(answer.headers["set-cookie"]?.[0]).toMatch(/; Secure$/);
  const headers = { host, origin, cookie: cookieOf(answer) };
  expect((await send("GET", "/v1/access", { headers })).status).toBe(200);
  const other = { ...headers, host: "www.example.org" };
  expect((await send("GET", "/v1/access", { headers: other })).status).toBe(403);
});

test("accepts any address but no foreign name when open to other machines", async () => {
  const env = { T: "a-token-of-my-own" };
  const { send, token } = await startHttpHarness({ server: 'host: "0.0.0.0", token_env: T', env });
  const status = async (host: string) =>
    (await send("GET", "/v1/access", { headers: { host, ...bearer(token) } })).status;
  expect(await status("192.168.7.9:3232")).toBe(200);
  expect(await status("[fd00::7]:3232")).toBe(200);
  expect(await status("localhost")).toBe(200);
  expect(await status("evil.example")).toBe(403);
});

test("creates sign-in links for the local user only", async () => {
  const { token, send, port } = await startHttpHarness();
  const answer = await send("POST", "/v1/login-links", {
    headers: { ...bearer(token), origin: `http://127.0.0.1:${port}` },
    body: "{}",
  });
  expect(answer.status).toBe(403);
  expect(answer.text).toContain("only_local");
});

test("lets a reader see everything and change nothing", async () => {
  const { fleet, readOnly, send, signIn, port } = await startHttpHarness({
    server: "read_only_token_env: WALL",
    env: { WALL: "for-the-wall-display" },
  });
  const cookie = await signIn("read");
  const origin = `http://127.0.0.1:${port}`;
  const wall = bearer("for-the-wall-display");
  for (const headers of [bearer(readOnly), wall, { cookie, origin }]) {
    expect(await readAccess(send, headers)).toMatchObject({ scope: "read", agents: null });
    expect((await send("GET", "/v1/jobs", { headers })).status).toBe(200);
    expect((await send("GET", "/metrics", { headers })).status).toBe(200);
    const body = JSON.stringify({ agent: "coder" });
    for (const [path, text] of [
      ["/v1/jobs", body],
      ["/v1/shutdown", "{}"],
      ["/v1/login-links", "{}"],
    ] as const) {
      const answer = await send("POST", path, { headers, body: text });
      expect([path, answer.status]).toEqual([path, 403]);
    }
  }
  expect((await fleet.jobs.list({ limit: 1 })).jobs).toEqual([]);
});

test("falls back to a free port when the default one is taken", async () => {
  const { createServer } = await import("node:net");
  const { FleetManager } = await import("@herdctl/core/internal");
  const { Authenticator, createApp, serveHttp } = await import("@herdctl/server");
  const taken = createServer();
  const isOurs = await new Promise<boolean>((done) => {
    taken.once("error", () => done(false)).listen(3232, "127.0.0.1", () => done(true));
  });
  const folder = tempFolderWith({
    "herdctl.yaml": "version: 1\nfleet: { name: test }\nagents: [{ name: coder }]\n",
  });
  const fleet = new FleetManager({ file: join(folder, "herdctl.yaml"), env: {} });
  await fleet.initialize();
  const access = new Authenticator(fleet);
  const server = await serveHttp(fleet, createApp(fleet, { authenticator: access }), access);
  const { url, problem } = (await fleet.status()).fleet;
  expect([typeof url, problem]).toEqual(["string", null]);
  expect(url).not.toContain(":3232");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const file = join(folder, "herdctl.yaml");
  const plain = readFileSync(file, "utf8");
  writeFileSync(file, `${plain}server: { mcp: { token_env: TOOLS_TOKEN } }\n`);
  await fleet.reload();
  await waitUntil("another port to be refused", async () => {
    const now = (await fleet.status()).fleet;
    return now.url === null && now.problem?.includes("3232");
  });
  await server.stop();
  await fleet.shutdown({ drainMs: 0 });
  if (isOurs) await new Promise((done) => taken.close(done));
});

test("streams events over the port, continues after a break, and ends on stop", async () => {
  const { fleet, server, port, readOnly } = await startHttpHarness();
  const listen = (headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}/v1/events`, { headers: { ...bearer(readOnly), ...headers } });
  const first = await listen();
  expect(first.headers.get("cache-control")).toBe("no-store");
  await fleet.agents.pause("coder");
  const [paused] = await frames(first, 1);
  await fleet.agents.resume("coder");
  const lost = await listen({ "last-event-id": "00000000-9" });
  expect((await frames(lost, 1))[0]).toContain("event: reset");
  const again = await listen({ "last-event-id": /^id: (.*)$/m.exec(paused ?? "")?.[1] ?? "" });
  expect((await frames(again, 1))[0]).toContain("event: agent:resumed");
  const last = await listen();
  const cut = expect(last.text()).rejects.toThrow();
  await server.stop();
  await cut;
});

/** Reads this many frames and then disconnects. */
async function frames(response: Response, count: number): Promise<string[]> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const found = text.split("\n\n").slice(0, -1);
    const events = found.filter((frame) => !frame.startsWith(":"));
    if (events.length >= count) return events;
  }
  return expect.fail(`the stream ended after ${text}`);
}

test("serves health and readiness without a token and without details", async () => {
  const { fleet, send } = await startHttpHarness();
  expect((await send("GET", "/healthz")).text).toBe('{"status":"ok"}');
  const starting = await send("GET", "/readyz");
  expect([starting.status, starting.text.includes("is starting")]).toEqual([503, true]);
  await fleet.start();
  const ready = await send("GET", "/readyz");
  expect([ready.status, ready.text]).toEqual([200, '{"status":"ready"}']);
});

test("forbids inline scripts and embedding in every response", async () => {
  const { token, send } = await startHttpHarness();
  for (const path of ["/", "/login", "/v1/status", "/healthz", "/nothing.js"]) {
    const { headers } = await send("GET", path, { headers: bearer(token) });
    const policy = headers["content-security-policy"];
    expect(policy, path).toContain("default-src 'none'");
    expect(policy, path).toContain("script-src 'self'");
    expect(policy, path).not.toContain("unsafe");
    expect(headers["x-content-type-options"], path).toBe("nosniff");
    expect(headers["x-frame-options"], path).toBe("DENY");
    expect(headers["referrer-policy"], path).toBe("no-referrer");
    expect(headers["access-control-allow-origin"], path).toBeUndefined();
  }
});

test("serves the dashboard's files, its first page for all pages, and caches hashed names", async () => {
  const dashboard = tempFolderWith({
    "index.html": "<title>herd</title>",
    "assets/app-3f2a.js": "export {};",
    "assets/secret.key": "no",
  });
  const { send } = await startHttpHarness({ dashboard });
  for (const path of ["/", "/jobs/job-1", "/agents/coder", "/agents/a.b.js"]) {
    const page = await send("GET", path);
    expect([page.status, page.text]).toEqual([200, "<title>herd</title>"]);
    expect(page.headers["cache-control"]).toBe("no-cache");
    const etag = String(page.headers.etag);
    const again = await send("GET", path, { headers: { "if-none-match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
  }
  const script = await send("GET", "/assets/app-3f2a.js");
  expect(script.headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": "text/javascript; charset=utf-8",
  });
  for (const path of ["/assets/gone-1.js", "/gone.js"]) {
    expect((await send("GET", path)).status).toBe(404);
  }
  expect((await send("GET", "/assets/secret.key")).status).toBe(404);
});

test("explains on a page that no dashboard is built", async () => {
  const { send } = await startHttpHarness({ dashboard: "/nowhere" });
  const { status, text } = await send("GET", "/");
  expect([status, text.includes("does not include the dashboard")]).toEqual([200, true]);
});

test("shows the configuration with origins and without secrets", async () => {
  const secret = "s3cret-of-the-agent";
  const { folder, token, send } = await startHttpHarness({
    agents: `  - { name: coder, env: { API_TOKEN: "\${DEEP}" } }`,
    env: { DEEP: secret },
  });
  const { text } = await send("GET", "/v1/config", { headers: bearer(token) });
  expect(text).not.toContain(secret);
  const shown = JSON.parse(text);
  expect(shown.agents[0].values).toContainEqual({
    path: "env.API_TOKEN",
    value: "•••••• ($DEEP)",
    from: expect.objectContaining({ file: join(folder, "herdctl.yaml") }),
  });
});

test("writes tokens and codes to no file except their own", async () => {
  const { folder, token, access, send, signIn } = await startHttpHarness();
  const cookie = await signIn();
  const code = new URL(access.createLoginLink("admin", "user:test")?.url ?? "").hash.slice(1);
  await send("GET", "/v1/status", { headers: bearer(`${token}x`) });
  const { readdirSync } = await import("node:fs");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "token")
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  for (const text of files) {
    for (const secret of [token, code, cookie.split("=")[1] ?? "?"]) {
      expect(text.includes(secret)).toBe(false);
    }
  }
});
