import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { bearer, type HttpHarness, startHttpHarness } from "./http-harness.ts";

const subscription = (endpoint: string) => {
  const p256dh = Buffer.concat([Buffer.from([4]), randomBytes(64)]).toString("base64url");
  return { endpoint, keys: { p256dh, auth: randomBytes(16).toString("base64url") } };
};

async function readToken({ fleet }: HttpHarness, name: string, agents?: string[]) {
  return bearer((await fleet.tokens.create({ name, scope: "read", agents })).secret);
}

function subscribe(harness: HttpHarness, headers: Record<string, string>, body: object) {
  return harness.send("POST", "/v1/push/subscriptions", { headers, body: JSON.stringify(body) });
}

test("subscribes a browser for a caller who may read, and ends it only for that caller", async () => {
  const harness = await startHttpHarness();
  const [owner, other] = [await readToken(harness, "owner"), await readToken(harness, "other")];
  const { key } = JSON.parse((await harness.send("GET", "/v1/push/key", { headers: owner })).text);
  expect(Buffer.from(key, "base64url")).toHaveLength(65);
  expect((await harness.send("GET", "/v1/push/key")).status).toBe(401);

  const body = subscription("https://push.example.org/secret");
  const given = await subscribe(harness, owner, body);
  expect(given.status).toBe(200);
  expect(given.text).not.toContain("secret");
  const { id } = JSON.parse(given.text);
  await subscribe(harness, owner, body);
  const end = (headers: Record<string, string>) =>
    harness.send("DELETE", `/v1/push/subscriptions/${id}`, { headers });
  await end(other);
  await end(owner);
  await end(owner);
  const { records } = await harness.fleet.audit.list();
  const recorded = records.filter(({ action }) => action.startsWith("push."));
  expect(recorded.map(({ action, identity, target }) => [action, identity, target])).toEqual([
    ["push.unsubscribe", "token:owner", id],
    ["push.subscribe", "token:owner", id],
  ]);
});

test("refuses subscriptions without TLS, of other forms, and for tokens of some agents", async () => {
  const harness = await startHttpHarness();
  const owner = await readToken(harness, "owner");
  const plain = await subscribe(harness, owner, subscription("http://push.example.org/"));
  expect([plain.status, plain.text]).toEqual([400, expect.stringContaining("https URL")]);
  const { keys } = subscription("");
  for (const wrong of [
    { endpoint: "file:///etc/passwd", keys },
    { endpoint: "https://push.example.org/", keys: { ...keys, auth: "short" } },
  ])
    expect((await subscribe(harness, owner, wrong)).status).toBe(400);
  const limited = await readToken(harness, "limited", ["coder"]);
  const refused = await subscribe(harness, limited, subscription("https://push.example.org/"));
  expect(refused.status).toBe(403);
});
