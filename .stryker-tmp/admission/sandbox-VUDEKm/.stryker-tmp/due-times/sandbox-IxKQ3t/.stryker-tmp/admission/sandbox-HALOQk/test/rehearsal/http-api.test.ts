import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type RequestOptions, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import { startRehearsal } from "@herdctl/rehearsal";
import { expect, onTestFinished, test } from "vitest";
import { hello, startRehearsalClient, user } from "./rehearsal-client.ts";

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-rehearsal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("returns the same content plain, streamed and on a retry", async () => {
  const reply = {
    thinking: "Hm.",
    text: "Grüße 🐑.",
    tools: [{ name: "Bash", input: { a: "ü" } }],
  };
  const { client } = await startRehearsalClient({ script: { rules: [{ reply }] } });
  const plain = await client.messages.create(hello);
  const streamed = await client.messages.stream(hello).finalMessage();
  expect(plain.content).toMatchObject([
    { type: "thinking", thinking: "Hm." },
    { type: "text", text: "Grüße 🐑." },
    { type: "tool_use", name: "Bash", input: { a: "ü" } },
  ]);
  expect(plain.stop_reason).toBe("tool_use");
  expect(streamed.content.slice(0, 2)).toEqual(plain.content.slice(0, 2));
  expect(streamed.usage).toMatchObject(plain.usage);
  expect(await client.messages.create(hello)).toEqual(plain);
});

test("counts tokens from the text", async () => {
  const { client } = await startRehearsalClient();
  const short = await client.messages.countTokens(hello);
  const messages = [{ role: user, content: "hello".repeat(400) }];
  const long = await client.messages.countTokens({ ...hello, messages });
  expect(long.input_tokens - short.input_tokens).toBe((399 * 5) / 4 + 0.25);
});

test("lists models and answers the lookup of any model", async () => {
  const { client } = await startRehearsalClient();
  const listed = (await client.models.list()).data.map((model) => model.id);
  expect(listed).toContain("claude-opus-5-5");
  expect(await client.models.retrieve("claude-next")).toMatchObject({ id: "claude-next" });
});

test("answers both probes, returns the API's 404 for unknown paths, and records all in the ledger", async () => {
  const { url, ledger } = await startRehearsalClient();
  expect((await fetch(`${url}/`, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(`${url}/api/hello`, { method: "HEAD" })).status).toBe(200);
  const missing = await fetch(`${url}/v1/files`, { headers: { authorization: "Bearer made-up" } });
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  expect(ledger.entries).toMatchObject([
    { kind: "probe" },
    { kind: "probe" },
    { kind: "unknown", path: "/v1/files", key: { kind: "bearer", value: "made-up" }, status: 404 },
  ]);
});

test("returns the API's 400 for an invalid message", async () => {
  const { url } = await startRehearsalClient();
  const post = (body: string) => fetch(`${url}/v1/messages`, { method: "POST", body });
  for (const body of ["{", "{}", '{"model":"m","messages":[]}']) {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  }
});

test("returns the ledger over HTTP without whole keys", async () => {
  const { url, port, client, ledger } = await startRehearsalClient({
    script: { rules: [{ name: "r", reply: "x" }] },
  });
  await client.messages.create(hello);
  const shown = await (await fetch(`${url}/_rehearsal/ledger`)).json();
  expect(shown).toMatchObject({
    entries: [{ rule: "r", model: hello.model, key: { value: "made…" } }],
  });
  expect(ledger.filter({ rule: "r", status: 200 })).toHaveLength(1);
  expect(ledger.filter({ rule: "other" })).toHaveLength(0);
  expect(await statusOf({ port, path: "/_rehearsal/ledger", headers: { host: "evil.test" } })).toBe(
    404,
  );
});

test("keeps only the newest bodies and entries", async () => {
  const { client, ledger } = await startRehearsalClient({ maxBodies: 1, maxEntries: 2 });
  for (const _ of [1, 2, 3]) await client.messages.create(hello);
  expect(ledger.entries.map((entry) => entry.id)).toEqual([2, 3]);
  expect(ledger.entries.map((entry) => entry.body !== undefined)).toEqual([false, true]);
});

test("ends open streams on stop, which may be called twice", async () => {
  const rehearsal = await startRehearsal({ script: { rules: [{ fault: { never: true } }] } });
  const body = JSON.stringify(hello);
  const open = fetch(`${rehearsal.url}/v1/messages`, { method: "POST", body });
  const ended = open.then(
    () => "answered",
    () => "failed",
  );
  while (rehearsal.ledger.main.length === 0) await new Promise((tick) => setTimeout(tick, 5));
  await Promise.all([rehearsal.stop(), rehearsal.stop()]);
  await rehearsal.stop();
  expect(await ended).toBe("failed");
  await new Promise((tick) => setImmediate(tick));
  expect(rehearsal.ledger.main[0]?.end).toBe("broken_off");
});

test("creates a private socket, replaces a stale one and removes it on stop", async () => {
  const socketPath = join(ownFolder(), "s.sock");
  await leaveStaleSocket(socketPath);
  const rehearsal = await startRehearsal({ socketPath, port: 0 });
  onTestFinished(() => rehearsal.stop());
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  expect(rehearsal.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await statusOf({ socketPath, path: "/", method: "HEAD" })).toBe(200);
  await expect(startRehearsal({ socketPath })).rejects.toMatchObject({ code: "address_in_use" });
  await rehearsal.stop();
  expect(existsSync(socketPath)).toBe(false);
});

test("explains addresses that cannot be bound", async () => {
  const folder = ownFolder();
  const { port } = await startRehearsalClient();
  await expect(startRehearsal({ port })).rejects.toMatchObject({ code: "address_in_use" });
  const tooLong = join(folder, "x".repeat(107));
  await expect(startRehearsal({ socketPath: tooLong })).rejects.toThrow(UserError);
  await expect(startRehearsal({ socketPath: tooLong })).rejects.toThrow(/bytes long/);
  const file = join(folder, "file");
  writeFileSync(file, "mine");
  await expect(startRehearsal({ socketPath: file })).rejects.toMatchObject({ code: "file_exists" });
  const nowhere = join(folder, "missing", "s.sock");
  await expect(startRehearsal({ socketPath: nowhere })).rejects.toThrow(/cannot listen/);
});

/** Renaming the socket keeps the file when the server closes. */
async function leaveStaleSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.other`, resolve));
  renameSync(`${path}.other`, path);
  await new Promise((resolve) => server.close(resolve));
}

async function statusOf(options: RequestOptions): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const asked = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.once("error", reject);
    asked.end();
  });
}

test("refuses unknown keys with the API's message, but answers probes without a key", async () => {
  const rehearsal = await startRehearsal({ script: { keys: ["right"] } });
  onTestFinished(() => rehearsal.stop());
  const ask = async (headers: Record<string, string>, method = "GET") => {
    const path = method === "HEAD" ? "/" : "/v1/models";
    const answer = await fetch(`${rehearsal.url}${path}`, { method, headers });
    const text = await answer.text();
    return `${answer.status} ${text === "" ? "" : (JSON.parse(text).error?.message ?? "listed")}`;
  };
  expect(await ask({ "x-api-key": "right" })).toBe("200 listed");
  expect(await ask({ authorization: "Bearer right" })).toBe("200 listed");
  expect(await ask({ "x-api-key": "wrong" })).toBe("401 invalid x-api-key");
  expect(await ask({ authorization: "Bearer wrong" })).toBe("401 Invalid bearer token");
  expect(await ask({})).toBe("401 x-api-key header is required");
  expect(await ask({}, "HEAD")).toBe("200 ");
});
