import { createDecipheriv, createECDH, hkdfSync, randomBytes, verify } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createAuditEntry } from "../../packages/core/src/fleet/audit-log-writer.ts";
import { generatePushKeys, pushPayload } from "../../packages/core/src/hooks/web-push.ts";
import { startHookWorkerHarness } from "./hook-worker-harness.ts";

const audit = createAuditEntry(
  { identity: "user:test", origin: "process" },
  { action: "push.subscribe" },
);

/** A browser with its push service on loopback, which answers with these statuses in turn. */
async function startBrowser(statuses: number[]) {
  const received: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    received.push({ headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(statuses[received.length - 1] ?? 201).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const ecdh = createECDH("prime256v1");
  const publicKey = ecdh.generateKeys();
  const auth = randomBytes(16);
  const { port } = server.address() as AddressInfo;
  const keys = { p256dh: publicKey.toString("base64url"), auth: auth.toString("base64url") };
  return {
    received,
    subscription: { endpoint: `http://127.0.0.1:${port}/push/secret`, keys },
    decrypt: (body: Buffer) => decrypt(body, ecdh, auth),
  };
}

/** As a browser does it: RFC 8291 with one record of RFC 8188. */
function decrypt(body: Buffer, ecdh: ReturnType<typeof createECDH>, auth: Buffer): string {
  const salt = body.subarray(0, 16);
  const senderKey = body.subarray(21, 21 + body.readUInt8(20));
  const record = body.subarray(21 + senderKey.length);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), ecdh.getPublicKey(), senderKey]);
  const secret = hkdfSync("sha256", ecdh.computeSecret(senderKey), auth, info, 32);
  const derive = (name: string, length: number) =>
    Buffer.from(
      hkdfSync("sha256", Buffer.from(secret), salt, `Content-Encoding: ${name}\0`, length),
    );
  const key = derive("aes128gcm", 16);
  const decipher = createDecipheriv("aes-128-gcm", key, derive("nonce", 12));
  decipher.setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  return padded.subarray(0, padded.lastIndexOf(2)).toString("utf8");
}

const allowPrivate = { server: "{ push: { allow_private: true } }" };

async function askWith(statuses: number[], server = allowPrivate, owner = "user:test") {
  const harness = await startHookWorkerHarness("after_run: []", process.env, server);
  const browser = await startBrowser(statuses);
  const { state } = harness;
  const { id } = await state.push.add(browser.subscription, owner, audit);
  const created = await state.jobs.create({ agent: "one", prompt: "go" });
  const { job } = await state.jobs.startAttempt(created.job.id);
  const approval = await state.approvals.create({
    job_id: job.id,
    attempt: 1,
    tool: "Bash",
    input: { command: `echo ${"ü".repeat(4_000)}` },
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  harness.worker.start();
  return { ...harness, browser, job, approval, subscriptionId: id };
}

test("sends a question to a browser, encrypted and signed, also after its push service failed", async () => {
  const asked = await askWith([500]);
  const [run] = await asked.waitUntilSettled(asked.job);
  expect(run).toMatchObject({ type: "web_push", event: "on_question", attempts: 2 });
  expect(JSON.stringify(run)).not.toContain("secret");
  const [, sent] = asked.browser.received;
  expect(sent?.body.length).toBeLessThanOrEqual(4_096);
  const payload = JSON.parse(asked.browser.decrypt(sent?.body ?? Buffer.alloc(0)));
  expect(payload).toMatchObject({
    title: "one wants to use Bash",
    agent: "one",
    job: asked.job.id,
    approval: asked.approval.id,
    url: "http://127.0.0.1:3232/inbox",
  });
  expect(payload.body).toMatch(/^.*echo ü+…$/s);
  expect(sent?.headers).toMatchObject({ "content-encoding": "aes128gcm", urgency: "high" });
  const { public_key } = await asked.state.push.ensureKeys(generatePushKeys);
  expectSignature(
    sent?.headers.authorization ?? "",
    public_key,
    asked.browser.subscription.endpoint,
  );
});

/** VAPID (RFC 8292). */
function expectSignature(authorization: string, publicKey: string, endpoint: string): void {
  const [, token = "", key] = /^vapid t=([^,]+), k=(.+)$/.exec(authorization) ?? [];
  expect(key).toBe(publicKey);
  const [header, claims = "", signature = ""] = token.split(".");
  const { aud, sub } = JSON.parse(Buffer.from(claims, "base64url").toString());
  expect({ aud, sub }).toEqual({ aud: new URL(endpoint).origin, sub: "https://herdctl.dev/" });
  const point = Buffer.from(publicKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
    part.toString("base64url"),
  );
  const isValid = verify(
    "sha256",
    Buffer.from(`${header}.${claims}`),
    { key: { kty: "EC", crv: "P-256", x, y }, format: "jwk", dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  expect(isValid).toBe(true);
}

test.each([404, 410])("removes a browser for which its service answers %d", async (status) => {
  const asked = await askWith([status]);
  const [run] = await asked.waitUntilSettled(asked.job);
  expect(run?.message).toContain(`unsubscribed (HTTP status ${status})`);
  expect(await asked.state.push.list()).toEqual([]);
});

test("sends nothing to a private address unless that is allowed", async () => {
  const asked = await askWith([], { server: "{}" });
  const [run] = await asked.waitUntilSettled(asked.job, "failed");
  expect(run?.message).toContain("private address");
  expect(asked.browser.received).toEqual([]);
});

test.each(["login:0123abcd", "token:gone"])("sends nothing after %s has ended", async (owner) => {
  const asked = await askWith([], allowPrivate, owner);
  const [run] = await asked.waitUntilSettled(asked.job);
  expect(run?.message).toContain("has ended");
  expect(asked.browser.received).toEqual([]);
  expect(await asked.state.push.list()).toEqual([]);
});

test("keeps one pair of keys, and at most 20 subscriptions of one login", async () => {
  const { state } = await startHookWorkerHarness("after_run: []");
  const { public_key } = await state.push.ensureKeys(generatePushKeys);
  expect((await state.push.ensureKeys(generatePushKeys)).public_key).toBe(public_key);
  const { subscription } = await startBrowser([]);
  const add = (number: number, owner: string) =>
    state.push.add({ ...subscription, endpoint: `https://a.example/${number}` }, owner, audit);
  await add(100, "user:other");
  for (let number = 0; number < 22; number += 1) await add(number, "user:test");
  await add(21, "user:test");
  const endpoints = (await state.push.list()).map(({ endpoint }) => endpoint.slice(18));
  expect(endpoints).toEqual(["100", ...Array.from({ length: 20 }, (_, index) => `${index + 2}`)]);
});

test("keeps the payload below the limit of push services", async () => {
  const text = "\u202e\u0000".repeat(3_000);
  const question = { kind: "question", tool: "ask", input: {}, question: text, id: "approval-1" };
  const job = { id: "job-1", agent: "a".repeat(64) };
  const payload = pushPayload({ job, url: null, question } as unknown as Parameters<
    typeof pushPayload
  >[0]);
  expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThan(3_900);
});
