import { expect, test } from "vitest";
import {
  bearer,
  followLoginLink,
  type HttpHarness,
  startHttpHarness,
} from "../server/http-harness.ts";
import { connectRaw } from "../support/raw-tcp-connection.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const mebibyte = 1024 * 1024;
const trigger = JSON.stringify({ agent: "coder" });

async function expectNoEffect({ fleet }: HttpHarness): Promise<void> {
  expect((await fleet.jobs.list({ limit: 1 })).jobs).toEqual([]);
}

test("answers no request by a host name that was rebound to the fleet", async () => {
  const harness = await startHttpHarness();
  const cookie = await harness.signIn();
  for (const host of ["evil.example", `evil.example:${harness.port}`, "127.0.0.1.evil.example"]) {
    const brought: Record<string, string>[] = [{ cookie }, bearer(harness.token)];
    for (const headers of brought.map((one) => ({ ...one, host }))) {
      for (const path of ["/v1/status", "/v1/events", "/metrics", "/", "/login", "/healthz"]) {
        const { status } = await harness.send("GET", path, { headers });
        expect([host, path, status]).toEqual([host, path, 403]);
      }
      expect((await harness.send("POST", "/v1/jobs", { headers, body: trigger })).status).toBe(403);
    }
  }
  await expectNoEffect(harness);
});

test("answers no request without a host or with one in its target", async () => {
  const { port, token } = await startHttpHarness();
  const auth = `Authorization: Bearer ${token}\r\nConnection: close`;
  const none = connectRaw(port);
  none.socket.write(`GET /v1/status HTTP/1.0\r\n${auth}\r\n\r\n`);
  expect(await none.closed).toMatch(/^HTTP\/1.1 403 /);
  const blank = connectRaw(port);
  blank.socket.write(`GET /v1/status HTTP/1.1\r\nHost: \r\n${auth}\r\n\r\n`);
  expect(await blank.closed).toMatch(/^HTTP\/1.1 403 /);
  const foreign = connectRaw(port);
  foreign.socket.write(
    `GET http://127.0.0.1:${port}/v1/status HTTP/1.1\r\nHost: evil.example\r\n${auth}\r\n\r\n`,
  );
  expect(await foreign.closed).toMatch(/^HTTP\/1.1 403 /);
});

test("refuses posts and streams of other pages although the browser would send the cookie", async () => {
  const harness = await startHttpHarness();
  const cookie = await harness.signIn();
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "not an origin" },
    { origin: `http://localhost:${harness.port}` },
    { origin: `http://127.0.0.1:${harness.port + 1}` },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
    { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
  ];
  for (const headers of foreign.map((one) => ({ ...one, cookie }))) {
    // Endless streams come last, so that a wrong answer shows before them.
    for (const path of ["/v1/status", "/metrics", "/v1/jobs/x/output?follow=true", "/v1/events"]) {
      const { status, headers: answered } = await harness.send("GET", path, { headers });
      expect([headers, path, status]).toEqual([headers, path, 403]);
      expect(answered["access-control-allow-origin"]).toBeUndefined();
    }
    for (const path of ["/v1/jobs", "/v1/shutdown", "/login", "/logout"]) {
      const { status } = await harness.send("POST", path, { headers, body: trigger });
      expect([headers, path, status]).toEqual([headers, path, 403]);
    }
    expect((await harness.send("OPTIONS", "/v1/jobs", { headers })).status).toBe(403);
  }
  await expectNoEffect(harness);
});

test("refuses a form of another page without an origin", async () => {
  const harness = await startHttpHarness();
  const cookie = await harness.signIn();
  const headers = { cookie, "content-type": "text/plain" };
  const { status, text } = await harness.send("POST", "/v1/jobs", { headers, body: trigger });
  expect([status, text.includes("foreign_request")]).toEqual([403, true]);
  await expectNoEffect(harness);
});

test("accepts the fleet's own page, and links from other pages", async () => {
  const harness = await startHttpHarness();
  const cookie = await harness.signIn();
  const origin = `http://127.0.0.1:${harness.port}`;
  const own = { cookie, origin, "sec-fetch-site": "same-origin" };
  expect((await harness.send("POST", "/v1/jobs", { headers: own, body: trigger })).status).toBe(
    200,
  );
  const visit = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  expect((await harness.send("GET", "/jobs/x", { headers: visit })).status).toBe(200);
  const frame = { ...visit, "sec-fetch-dest": "iframe" };
  expect((await harness.send("GET", "/jobs/x", { headers: frame })).status).toBe(403);
});

test("checks host and origin before a protocol upgrade, and upgrades nothing", async () => {
  const { port, token } = await startHttpHarness();
  const upgrade = (lines: string[]) =>
    ["GET /v1/events HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", ...lines, "", ""].join(
      "\r\n",
    );
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13";
  const auth = `Authorization: Bearer ${token}`;
  const cases = [
    [`Host: 127.0.0.1:${port}`, "Origin: https://evil.example", key, auth],
    ["Host: evil.example", key, auth],
  ];
  for (const lines of cases) {
    const { socket, closed } = connectRaw(port);
    socket.write(upgrade(lines));
    socket.end();
    const response = await closed;
    expect(response).toMatch(/^HTTP\/1.1 403 /);
    expect(response).not.toContain("101");
  }
});

test("refuses missing, wrong, blank, truncated and misplaced tokens", async () => {
  const harness = await startHttpHarness();
  const cookie = await harness.signIn();
  const [name, value = ""] = cookie.split("=");
  const wrong: Record<string, string>[] = [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: "Bearer  " },
    { authorization: `Basic ${Buffer.from(`x:${harness.token}`).toString("base64")}` },
    { authorization: `Bearer ${harness.token} ${harness.token}` },
    { authorization: `Bearer ${harness.token.slice(0, -1)}` },
    { authorization: harness.token },
    { cookie: `${name}=` },
    { cookie: `${name}=${harness.token}` },
    { cookie: `${name}=${"0".repeat(24)}${value.slice(24)}` },
    { cookie: `${name}=${value.slice(0, -2)}AA` },
    { cookie: `herdctl-1=${value}` },
    { "x-token": harness.token },
  ];
  for (const [index, headers] of wrong.entries()) {
    const path = index === 0 ? `/v1/status?token=${harness.token}` : "/v1/status";
    const { status } = await harness.send("GET", path, { headers });
    expect([headers, status]).toEqual([headers, 401]);
  }
  await expectNoEffect(harness);
});

test("slows down wrong tokens but not a right token, link or cookie", async () => {
  const harness = await startHttpHarness();
  const cookie = await harness.signIn();
  const statuses = [];
  for (let tried = 0; tried < 15; tried += 1) {
    statuses.push(
      (await harness.send("GET", "/v1/status", { headers: bearer(`guess-${tried}`) })).status,
    );
  }
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
  expect(statuses.slice(10)).toEqual(Array(5).fill(429));
  const late = await harness.send("GET", "/v1/status", { headers: bearer("one more") });
  expect([late.status, late.headers["retry-after"]]).toEqual([429, "60"]);
  const origin = `http://127.0.0.1:${harness.port}`;
  const code = await harness.send("POST", "/login", { headers: { origin }, body: '{"code":"x"}' });
  expect(code.status).toBe(429);
  expect((await harness.send("GET", "/v1/status", { headers: bearer(harness.token) })).status).toBe(
    200,
  );
  const link = harness.access.createLoginLink("admin", "user:test")?.url ?? "";
  expect((await followLoginLink(harness.send, harness.port, link)).status).toBe(204);
  expect((await harness.send("GET", "/v1/status", { headers: { cookie } })).status).toBe(200);
});

test("serves no path outside the dashboard's folder, and none without the token", async () => {
  const folder = tempFolderWith({
    "dashboard/index.html": "the dashboard",
    "dashboard/assets/a.js": "1",
    "outside.json": "secret",
  });
  const { symlinkSync } = await import("node:fs");
  symlinkSync(`${folder}/outside.json`, `${folder}/dashboard/link.json`);
  const { port } = await startHttpHarness({ dashboard: `${folder}/dashboard` });
  const paths = [
    "/../outside.json",
    "/assets/../../outside.json",
    "/%2e%2e/outside.json",
    "/..%2foutside.json",
    "/assets/..%2f..%2foutside.json",
    "/assets/%2e%2e%2f%2e%2e%2foutside.json",
    "/..%5coutside.json",
    "/assets//../../outside.json",
    `/${folder}/outside.json`,
    "/link.json",
    "/%00.json",
    "/assets/a.js%00.json",
    "/hooks/../v1/status",
    "/hooks/%2e%2e/v1/status",
    "/assets/../v1/status",
    "//v1/status",
    "/./v1/status",
    "/v1/./status",
    "/V1/status",
    "/v1%2fstatus",
  ];
  for (const path of paths) {
    const { socket, closed } = connectRaw(port);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    const response = await closed;
    expect([path, response.includes("secret")]).toEqual([path, false]);
    expect([path, response.includes('"fleet"')]).toEqual([path, false]);
    expect([path, /^HTTP\/1.1 (200|400|401|404) /.test(response)]).toEqual([path, true]);
  }
});

test("refuses a body of 100 MB by its announced size, with and without a token", async () => {
  const harness = await startHttpHarness();
  const origin = `Origin: http://127.0.0.1:${harness.port}`;
  const cases = [
    ["/v1/jobs", `Authorization: Bearer ${harness.token}`, 413],
    ["/v1/reload", `Authorization: Bearer ${harness.token}`, 413],
    ["/v1/jobs", "X: y", 401],
    ["/login", origin, 413],
    ["/nothing", "X: y", 404],
  ] as const;
  for (const [path, header, status] of cases) {
    const { socket, closed } = connectRaw(harness.port);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${harness.port}\r\n${header}\r\nContent-Length: ${100 * mebibyte}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(1000, "x"));
    const response = await closed;
    expect([path, response.split("\r\n")[0]]).toEqual([
      path,
      expect.stringContaining(` ${status} `),
    ]);
  }
  await expectNoEffect(harness);
});

test("refuses an oversized body without an announced size and stores none of it", async () => {
  const harness = await startHttpHarness();
  const before = process.memoryUsage().rss;
  for (const auth of [`Authorization: Bearer ${harness.token}`, "X: y"]) {
    const { socket, closed } = connectRaw(harness.port);
    socket.write(
      `POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1:${harness.port}\r\n${auth}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const piece = Buffer.alloc(mebibyte, "x");
    for (let sent = 0; sent < 100 && socket.writable; sent += 1) {
      socket.write(`${piece.length.toString(16)}\r\n`);
      socket.write(piece);
      const isFlowing = socket.write("\r\n");
      if (!isFlowing)
        await Promise.race([new Promise((done) => socket.once("drain", done)), closed]);
    }
    // A client that keeps sending may be disconnected before it receives the answer.
    expect(await closed).toMatch(/^(HTTP\/1.1 4(13|01) |$)/);
  }
  expect((process.memoryUsage().rss - before) / mebibyte).toBeLessThan(150);
  await expectNoEffect(harness);
});

test("returns texts and names of agents as data, never as a page", async () => {
  const harness = await startHttpHarness();
  const prompt = "<script>alert(1)</script>";
  const { job } = await harness.fleet.jobs.trigger({ agent: "coder", prompt });
  const headers = bearer(harness.token);
  for (const path of [`/v1/jobs/${job.id}`, "/v1/jobs", `/v1/jobs/${encodeURIComponent(prompt)}`]) {
    const answer = await harness.send("GET", path, { headers });
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  }
});
