import { expect, test } from "vitest";
import { bearer, follow, type PortStage, portStage } from "../server/port-stage.ts";
import { folderWith } from "../support/folder.ts";
import { raw } from "../support/raw-connection.ts";

const mebibyte = 1024 * 1024;
const trigger = JSON.stringify({ agent: "coder" });

async function nothingHappened({ fleet }: PortStage): Promise<void> {
  expect((await fleet.jobs({ limit: 1 })).jobs).toEqual([]);
}

test("a name that was made to lead here is not ours: no request by it is answered", async () => {
  const on = await portStage();
  const cookie = await on.signIn();
  for (const host of ["evil.example", `evil.example:${on.port}`, "127.0.0.1.evil.example"]) {
    const brought: Record<string, string>[] = [{ cookie }, bearer(on.token)];
    for (const headers of brought.map((one) => ({ ...one, host }))) {
      for (const path of ["/v1/status", "/v1/events", "/metrics", "/", "/login", "/healthz"]) {
        const { status } = await on.send("GET", path, { headers });
        expect([host, path, status]).toEqual([host, path, 403]);
      }
      expect((await on.send("POST", "/v1/jobs", { headers, body: trigger })).status).toBe(403);
    }
  }
  await nothingHappened(on);
});

test("a request without a host, or with one in its address, is not answered either", async () => {
  const { port, token } = await portStage();
  const auth = `Authorization: Bearer ${token}\r\nConnection: close`;
  const none = raw(port);
  none.socket.write(`GET /v1/status HTTP/1.0\r\n${auth}\r\n\r\n`);
  expect(await none.closed).toMatch(/^HTTP\/1.1 403 /);
  const blank = raw(port);
  blank.socket.write(`GET /v1/status HTTP/1.1\r\nHost: \r\n${auth}\r\n\r\n`);
  expect(await blank.closed).toMatch(/^HTTP\/1.1 403 /);
  const foreign = raw(port);
  foreign.socket.write(
    `GET http://127.0.0.1:${port}/v1/status HTTP/1.1\r\nHost: evil.example\r\n${auth}\r\n\r\n`,
  );
  expect(await foreign.closed).toMatch(/^HTTP\/1.1 403 /);
});

test("another page can neither post nor listen, though the browser would send the cookie", async () => {
  const on = await portStage();
  const cookie = await on.signIn();
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "not an origin" },
    { origin: `http://localhost:${on.port}` },
    { origin: `http://127.0.0.1:${on.port + 1}` },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
    { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
  ];
  for (const headers of foreign.map((one) => ({ ...one, cookie }))) {
    // Those that would never end come last: an answer that is wrong is seen before.
    for (const path of ["/v1/status", "/metrics", "/v1/jobs/x/output?follow=true", "/v1/events"]) {
      const { status, headers: answered } = await on.send("GET", path, { headers });
      expect([headers, path, status]).toEqual([headers, path, 403]);
      expect(answered["access-control-allow-origin"]).toBeUndefined();
    }
    for (const path of ["/v1/jobs", "/v1/shutdown", "/login", "/logout"]) {
      const { status } = await on.send("POST", path, { headers, body: trigger });
      expect([headers, path, status]).toEqual([headers, path, 403]);
    }
    expect((await on.send("OPTIONS", "/v1/jobs", { headers })).status).toBe(403);
  }
  await nothingHappened(on);
});

test("a form of another page without any origin cannot post by cookie", async () => {
  const on = await portStage();
  const cookie = await on.signIn();
  const headers = { cookie, "content-type": "text/plain" };
  const { status, text } = await on.send("POST", "/v1/jobs", { headers, body: trigger });
  expect([status, text.includes("foreign_request")]).toEqual([403, true]);
  await nothingHappened(on);
});

test("our own page can, and a link on another page may lead to it", async () => {
  const on = await portStage();
  const cookie = await on.signIn();
  const origin = `http://127.0.0.1:${on.port}`;
  const own = { cookie, origin, "sec-fetch-site": "same-origin" };
  expect((await on.send("POST", "/v1/jobs", { headers: own, body: trigger })).status).toBe(200);
  const visit = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  expect((await on.send("GET", "/jobs/x", { headers: visit })).status).toBe(200);
  const frame = { ...visit, "sec-fetch-dest": "iframe" };
  expect((await on.send("GET", "/jobs/x", { headers: frame })).status).toBe(403);
});

test("a connection is not upgraded, and its host and origin are looked at first", async () => {
  const { port, token } = await portStage();
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
    const { socket, closed } = raw(port);
    socket.write(upgrade(lines));
    socket.end();
    const said = await closed;
    expect(said).toMatch(/^HTTP\/1.1 403 /);
    expect(said).not.toContain("101");
  }
});

test("tokens that are missing, wrong, blank, cut short or in the wrong place open nothing", async () => {
  const on = await portStage();
  const cookie = await on.signIn();
  const [name, value = ""] = cookie.split("=");
  const wrong: Record<string, string>[] = [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: "Bearer  " },
    { authorization: `Basic ${Buffer.from(`x:${on.token}`).toString("base64")}` },
    { authorization: `Bearer ${on.token} ${on.token}` },
    { authorization: `Bearer ${on.token.slice(0, -1)}` },
    { authorization: on.token },
    { cookie: `${name}=` },
    { cookie: `${name}=${on.token}` },
    { cookie: `${name}=${"0".repeat(24)}${value.slice(24)}` },
    { cookie: `${name}=${value.slice(0, -2)}AA` },
    { cookie: `herdctl-1=${value}` },
    { "x-token": on.token },
  ];
  for (const [index, headers] of wrong.entries()) {
    const path = index === 0 ? `/v1/status?token=${on.token}` : "/v1/status";
    const { status } = await on.send("GET", path, { headers });
    expect([headers, status]).toEqual([headers, 401]);
  }
  await nothingHappened(on);
});

test("who tries many tokens is made to wait; a right token, link or cookie is not", async () => {
  const on = await portStage();
  const cookie = await on.signIn();
  const statuses = [];
  for (let tried = 0; tried < 15; tried += 1) {
    statuses.push(
      (await on.send("GET", "/v1/status", { headers: bearer(`guess-${tried}`) })).status,
    );
  }
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
  expect(statuses.slice(10)).toEqual(Array(5).fill(429));
  const late = await on.send("GET", "/v1/status", { headers: bearer("one more") });
  expect([late.status, late.headers["retry-after"]]).toEqual([429, "60"]);
  const origin = `http://127.0.0.1:${on.port}`;
  const code = await on.send("POST", "/login", { headers: { origin }, body: '{"code":"x"}' });
  expect(code.status).toBe(429);
  expect((await on.send("GET", "/v1/status", { headers: bearer(on.token) })).status).toBe(200);
  const link = on.access.loginLink("admin", "user:test")?.url ?? "";
  expect((await follow(on.send, on.port, link)).status).toBe(204);
  expect((await on.send("GET", "/v1/status", { headers: { cookie } })).status).toBe(200);
});

test("no path leads out of the dashboard's folder, nor past the token", async () => {
  const folder = folderWith({
    "dashboard/index.html": "the dashboard",
    "dashboard/assets/a.js": "1",
    "outside.json": "secret",
  });
  const { symlinkSync } = await import("node:fs");
  symlinkSync(`${folder}/outside.json`, `${folder}/dashboard/link.json`);
  const { port } = await portStage({ dashboard: `${folder}/dashboard` });
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
    const { socket, closed } = raw(port);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    const said = await closed;
    expect([path, said.includes("secret")]).toEqual([path, false]);
    expect([path, said.includes('"fleet"')]).toEqual([path, false]);
    expect([path, /^HTTP\/1.1 (200|400|401|404) /.test(said)]).toEqual([path, true]);
  }
});

test("a body of 100 MB is refused as soon as its size is told, with a token and without", async () => {
  const on = await portStage();
  const origin = `Origin: http://127.0.0.1:${on.port}`;
  const cases = [
    ["/v1/jobs", `Authorization: Bearer ${on.token}`, 413],
    ["/v1/reload", `Authorization: Bearer ${on.token}`, 413],
    ["/v1/jobs", "X: y", 401],
    ["/login", origin, 413],
    ["/nothing", "X: y", 404],
  ] as const;
  for (const [path, header, status] of cases) {
    const { socket, closed } = raw(on.port);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${on.port}\r\n${header}\r\nContent-Length: ${100 * mebibyte}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(1000, "x"));
    const said = await closed;
    expect([path, said.split("\r\n")[0]]).toEqual([path, expect.stringContaining(` ${status} `)]);
  }
  await nothingHappened(on);
});

test("a body that does not tell its size is refused when it is too much, and none of it is kept", async () => {
  const on = await portStage();
  const before = process.memoryUsage().rss;
  for (const auth of [`Authorization: Bearer ${on.token}`, "X: y"]) {
    const { socket, closed } = raw(on.port);
    socket.write(
      `POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1:${on.port}\r\n${auth}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const piece = Buffer.alloc(mebibyte, "x");
    for (let sent = 0; sent < 100 && socket.writable; sent += 1) {
      socket.write(`${piece.length.toString(16)}\r\n`);
      socket.write(piece);
      const isFlowing = socket.write("\r\n");
      if (!isFlowing)
        await Promise.race([new Promise((done) => socket.once("drain", done)), closed]);
    }
    // Whoever goes on sending may be cut off before the answer has come through.
    expect(await closed).toMatch(/^(HTTP\/1.1 4(13|01) |$)/);
  }
  expect((process.memoryUsage().rss - before) / mebibyte).toBeLessThan(150);
  await nothingHappened(on);
});

test("what agents and names say comes back as data, never as a page", async () => {
  const on = await portStage();
  const prompt = "<script>alert(1)</script>";
  const { job } = await on.fleet.trigger({ trigger: "manual", agent: "coder", prompt });
  const headers = bearer(on.token);
  for (const path of [`/v1/jobs/${job.id}`, "/v1/jobs", `/v1/jobs/${encodeURIComponent(prompt)}`]) {
    const answer = await on.send("GET", path, { headers });
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  }
});
