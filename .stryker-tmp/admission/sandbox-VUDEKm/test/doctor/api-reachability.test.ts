import { createServer, type RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { queryModels } from "../../packages/core/src/doctor/claude/query-models.ts";

const credential = { kind: "api_key", value: "sk-ant-made-up" } as const;
const { signal } = new AbortController();

/** An API on loopback with this answer. */
async function standIn(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/prefix`;
}

test("requests the list of models below the base URL and masks a key that the answer repeats", async () => {
  const seen: unknown[] = [];
  const address = await standIn(({ method, url, headers }, response) => {
    seen.push([method, url, headers["x-api-key"], headers["anthropic-version"]]);
    const message = `no such key: ${headers["x-api-key"]}`;
    response.writeHead(401).end(JSON.stringify({ error: { message } }));
  });
  const answer = await queryModels({ ANTHROPIC_BASE_URL: address }, credential, signal);
  expect(answer).toMatchObject({ kind: "answered", status: 401, errorMessage: "no such key: …" });
  expect(seen).toEqual([["GET", "/prefix/v1/models?limit=1", credential.value, "2023-06-01"]]);
});

test("checks reachability and the clock without a key", async () => {
  const behind = new Date(Date.now() - 600_000).toUTCString();
  const seen: unknown[] = [];
  const address = await standIn(({ method, headers }, response) => {
    seen.push([method, headers["x-api-key"], headers.authorization]);
    response.writeHead(404, { date: behind }).end();
  });
  const answer = await queryModels({ ANTHROPIC_BASE_URL: address }, undefined, signal);
  if (answer.kind !== "answered") return expect.fail("it answered");
  expect(Math.round((answer.clockSkewMs ?? 0) / 60_000)).toBe(10);
  expect(seen).toEqual([["HEAD", undefined, undefined]]);
});

test("reports why an API cannot be reached, and refuses to send a key with a space", async () => {
  const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
  expect(await queryModels(env, credential, signal)).toEqual({
    ...{ kind: "unreachable", host: "127.0.0.1:9", reason: "ECONNREFUSED" },
  });
  const blank = { kind: "api_key", value: "sk ant" } as const;
  await expect(queryModels(env, blank, signal)).rejects.toThrow("contains a space or a line break");
});
