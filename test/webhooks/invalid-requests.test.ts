import { join } from "node:path";
import type { FleetManager } from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { connectRaw } from "../support/raw-tcp-connection.ts";
import { mountSmallStateDir } from "../support/small-state-disk.ts";
import { githubHeaders, githubSchedule, secret, startWebhookHarness } from "./webhook-harness.ts";

const body = JSON.stringify({ action: "labeled", issue: { title: "It is broken" } });
const mebibyte = 1024 * 1024;

const head = (...lines: string[]) =>
  [
    "POST /hooks/coder/issues HTTP/1.1",
    "Host: x",
    "Content-Type: application/json",
    ...lines,
    "",
    "",
  ].join("\r\n");

/** The counted refusals; expects that nothing else is stored. */
async function expectOnlyRefusals(fleet: FleetManager): Promise<[reason: string, count: number][]> {
  const { deliveries, refused } = await fleet.deliveries.list({ limit: 10 });
  expect(deliveries).toEqual([]);
  expect((await fleet.jobs.list({ limit: 10 })).jobs).toEqual([]);
  return refused.map(({ reason, count }) => [reason, count]);
}

test("refuses invalid requests with their status and only counts them", async () => {
  const { fleet, post, port } = await startWebhookHarness([
    githubSchedule,
    "hourly: { type: interval, every: 1h, prompt: p }",
    "slack: { type: webhook, prompt: p, signature: { kind: slack, secret_env: SECRET } }",
  ]);
  const good = githubHeaders(body);
  const { createHmac } = await import("node:crypto");
  const old = String(Math.floor(Date.now() / 1000) - 400);
  const sum = createHmac("sha256", secret).update(`v0:${old}:${body}`).digest("hex");
  const stale = { "x-slack-request-timestamp": old, "x-slack-signature": `v0=${sum}` };
  const cases: [number, string, string, Record<string, string>][] = [
    [401, "coder/issues", body, githubHeaders(body, { key: "wrong" })],
    [401, "coder/issues", `${body} `, good],
    [401, "coder/issues", body, {}],
    [401, "coder/slack", body, stale],
    [415, "coder/issues", body, { ...good, "content-type": "text/plain" }],
    [415, "coder/slack", body, { ...good, "content-type": "application/xml" }],
    [415, "coder/issues", body, { ...good, "content-encoding": "gzip" }],
    [400, "coder/issues", "{", githubHeaders("{")],
    [404, "nobody/issues", body, good],
    [404, "coder/nothing", body, good],
    [404, "coder/hourly", body, good],
    [404, "coder/toString", body, good],
    [404, "coder%2Fissues", body, good],
    [404, "..%2F..%2Fetc/issues", body, good],
    [404, "coder/issues/more", body, good],
  ];
  for (const [status, path, text, headers] of cases) {
    const answer = await post(path, text, headers);
    expect([path, answer.status]).toEqual([path, status]);
    expect(answer.json).toMatchObject({ errors: [{ message: expect.any(String) }] });
  }
  const unknown = await Promise.all(
    ["nobody/issues", "coder/nothing", "coder/hourly"].map((path) => post(path, body, good)),
  );
  expect(new Set(unknown.map(({ json }) => JSON.stringify(json))).size).toBe(1);
  expect((await fetch(`http://127.0.0.1:${port}/hooks/coder/issues`)).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${port}/v1/status`)).status).toBe(401);

  const { deliveries, refused } = await fleet.deliveries.list({ limit: 10 });
  expect(deliveries).toEqual([]);
  expect((await fleet.jobs.list({ limit: 10 })).jobs).toEqual([]);
  const count = (reason: string, schedule: string | null) =>
    refused.find((one) => one.reason === reason && one.schedule === schedule)?.count;
  expect(count("signature_wrong", "issues")).toBe(3);
  expect(count("signature_wrong", "slack")).toBe(1);
  expect(count("media_type_wrong", "issues")).toBe(2);
  expect(count("media_type_wrong", "slack")).toBe(1);
  expect(count("request_invalid", "issues")).toBe(1);
  expect(count("webhook_not_found", null)).toBe(8);
  expect(refused).toHaveLength(6);
});

test("creates no second job for a delivery that its sender or an eavesdropper repeats", async () => {
  const standard =
    "standard: { type: webhook, prompt: p, signature: { kind: standard, secret_env: SECRET } }";
  const { fleet, post } = await startWebhookHarness([githubSchedule, standard]);
  const headers = githubHeaders(body);
  const first = await post("coder/issues", body, headers);
  const again = await post("coder/issues", body, headers);
  expect([first, again].map(({ status }) => status)).toEqual([202, 202]);
  expect(again.json).toEqual({ ...first.json, duplicate: true });
  const { createHmac } = await import("node:crypto");
  const signedAt = (seconds: number) => {
    const time = String(Math.floor(Date.now() / 1000) + seconds);
    const sum = createHmac("sha256", Buffer.from(secret, "base64"));
    const signature = sum.update(`msg_1.${time}.${body}`).digest("base64");
    const id = { "webhook-id": "msg_1", "webhook-timestamp": time };
    return { ...id, "webhook-signature": `v1,${signature}` };
  };
  const [now, old, early] = [signedAt(0), signedAt(-400), signedAt(400)];
  expect((await post("coder/standard", body, now)).json).toMatchObject({ duplicate: false });
  expect((await post("coder/standard", body, now)).json).toMatchObject({ duplicate: true });
  expect((await post("coder/standard", body, old)).status).toBe(401);
  expect((await post("coder/standard", body, early)).status).toBe(401);
  const { deliveries, refused } = await fleet.deliveries.list({ limit: 10 });
  expect(deliveries.map(({ redeliveries }) => redeliveries)).toEqual([1, 1]);
  expect((await fleet.jobs.list({ limit: 10 })).jobs).toHaveLength(2);
  const standing = { agent: "coder", schedule: "standard" };
  expect(refused).toEqual([{ ...standing, reason: "signature_wrong", count: 2 }]);
});

test("limits wrong signatures to 30 a minute and still accepts a right one", async () => {
  const { fleet, post } = await startWebhookHarness([githubSchedule]);
  const wrong = githubHeaders(body, { key: "a guess" });
  const statuses = [];
  for (let guess = 0; guess < 32; guess += 1) {
    statuses.push((await post("coder/issues", body, wrong)).status);
  }
  expect(statuses).toEqual([...Array(30).fill(401), 429, 429]);
  expect((await post("coder/issues", body, githubHeaders(body))).status).toBe(202);
  const counts = (await fleet.deliveries.list({ limit: 1 })).refused.map(({ reason, count }) => [
    reason,
    count,
  ]);
  expect(counts).toEqual([
    ["signature_wrong", 30],
    ["too_many_deliveries", 2],
  ]);
});

test("refuses a body of 30 MB by its announced size and closes the connection", async () => {
  const { fleet, port } = await startWebhookHarness([githubSchedule]);
  const { socket, closed } = connectRaw(port);
  socket.write(head(`Content-Length: ${30 * mebibyte}`));
  socket.write(Buffer.alloc(1000));
  // A client that keeps sending may be disconnected before it receives the answer.
  expect(await closed).toMatch(/^(HTTP\/1.1 413 |$)/);
  expect(await expectOnlyRefusals(fleet)).toEqual([["request_too_large", 1]]);
});

test("refuses an oversized body without an announced size", async () => {
  const { fleet, port } = await startWebhookHarness([githubSchedule]);
  const { socket, closed } = connectRaw(port);
  socket.write(head("Transfer-Encoding: chunked"));
  const piece = Buffer.alloc(mebibyte, "x");
  for (let sent = 0; sent < 30 && socket.writable; sent += 1) {
    socket.write(`${piece.length.toString(16)}\r\n`);
    socket.write(piece);
    socket.write("\r\n");
    await new Promise((done) => setTimeout(done, 5));
  }
  // The answer may be lost here as well.
  expect(await closed).toMatch(/^(HTTP\/1.1 413 |$)/);
  expect(await expectOnlyRefusals(fleet)).toEqual([["request_too_large", 1]]);
});

test("disconnects slow senders in head and body and serves others", async () => {
  const others = githubSchedule.replace("issues:", "others:");
  const { fleet, port, post } = await startWebhookHarness([githubSchedule, others], {
    timeouts: { headersMs: 500, requestMs: 1_500 },
  });
  const silent = connectRaw(port);
  const slowHead = connectRaw(port);
  slowHead.socket.write("POST /hooks/coder/issues HTTP/1.1\r\nHost: x\r\n");
  const slowBody = connectRaw(port);
  slowBody.socket.write(head("Content-Length: 1000"));
  const drip = setInterval(() => {
    if (slowHead.socket.writable) slowHead.socket.write("a");
    if (slowBody.socket.writable) slowBody.socket.write("{");
  }, 100);
  onTestFinished(() => clearInterval(drip));
  expect((await post("coder/others", body, githubHeaders(body))).status).toBe(202);
  expect(await slowHead.closed).toMatch(/^HTTP\/1.1 408 /);
  expect(await slowBody.closed).toMatch(/^(HTTP\/1.1 408 |$)/);
  await silent.closed;
  const { deliveries, refused } = await waitUntil("all to be recorded", async () => {
    const listed = await fleet.deliveries.list({ limit: 10 });
    return listed.refused.length > 0 && listed;
  });
  expect(deliveries.map(({ schedule }) => schedule)).toEqual(["others"]);
  const counted = refused.map(({ schedule, reason, count }) => [schedule, reason, count]);
  expect(counted).toEqual([["issues", "sender_gone", 1]]);
});

test("answers more deliveries than a schedule accepts in a minute with a retry time", async () => {
  const few = githubSchedule.replace("type: webhook,", "type: webhook, rate_limit: 3,");
  const { fleet, post } = await startWebhookHarness([
    few,
    githubSchedule.replace("issues:", "others:"),
  ]);
  const answers = [];
  for (let sent = 0; sent < 5; sent += 1) {
    await post("coder/issues", body, githubHeaders(body, { key: "wrong" }));
    answers.push(await post("coder/issues", body, githubHeaders(body)));
  }
  const late = answers.filter(({ status }) => status === 429);
  expect(answers.slice(0, 3).map(({ status }) => status)).toEqual([202, 202, 202]);
  expect(late.length).toBeGreaterThan(0);
  const wait = Number(late[0]?.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(20);
  expect((await post("coder/others", body, githubHeaders(body))).status).toBe(202);
  const { deliveries } = await fleet.deliveries.list({ limit: 10 });
  expect(deliveries).toHaveLength(answers.length - late.length + 1);
});

test("tolerates invalid HTTP and senders that hang up", async () => {
  const { port, post } = await startWebhookHarness([githubSchedule]);
  const nonsense = connectRaw(port);
  nonsense.socket.write("\x16\x03\x01 hello?\r\n\r\n");
  expect(await nonsense.closed).toMatch(/^HTTP\/1.1 400 /);
  for (let index = 0; index < 20; index += 1) {
    const { socket } = connectRaw(port);
    socket.write(head("Content-Length: 1000"), () => socket.destroy());
  }
  expect((await post("coder/issues", body, githubHeaders(body))).status).toBe(202);
});

test("acknowledges nothing on a full disk, and accepts the same delivery once there is space", async () => {
  let state: ReturnType<typeof mountSmallStateDir> | undefined;
  const { post } = await startWebhookHarness([githubSchedule], {
    beforeOpen: (folder) => {
      state = mountSmallStateDir(join(folder, "herdctl.yaml"));
    },
  });
  const large = JSON.stringify({ issue: { title: "x".repeat(300_000) } });
  const headers = githubHeaders(large, { id: "once" });
  state?.fill();
  const refused = await post("coder/issues", large, headers);
  expect(refused.status).toBe(503);
  expect(refused.headers.has("retry-after")).toBe(true);
  state?.free();
  expect((await post("coder/issues", large, headers)).status).toBe(202);
});
