import { createServer, type RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { reachApi } from "../../packages/core/src/doctor/claude/reach-api.ts";

const credential = { kind: "api_key", value: "sk-ant-made-up" } as const;
const { signal } = new AbortController();

/** An API on loopback that answers so. */
async function standIn(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/prefix`;
}

test("the list of models is asked for below the address, and a key that is repeated is not passed on", async () => {
  const seen: unknown[] = [];
  const address = await standIn(({ method, url, headers }, response) => {
    seen.push([method, url, headers["x-api-key"], headers["anthropic-version"]]);
    const message = `no such key: ${headers["x-api-key"]}`;
    response.writeHead(401).end(JSON.stringify({ error: { message } }));
  });
  const answer = await reachApi({ ANTHROPIC_BASE_URL: address }, credential, signal);
  expect(answer).toMatchObject({ kind: "answered", status: 401, words: "no such key: …" });
  expect(seen).toEqual([["GET", "/prefix/v1/models?limit=1", credential.value, "2023-06-01"]]);
});

test("without a key it is only asked whether it is there, and its clock is compared", async () => {
  const behind = new Date(Date.now() - 600_000).toUTCString();
  const seen: unknown[] = [];
  const address = await standIn(({ method, headers }, response) => {
    seen.push([method, headers["x-api-key"], headers.authorization]);
    response.writeHead(404, { date: behind }).end();
  });
  const answer = await reachApi({ ANTHROPIC_BASE_URL: address }, undefined, signal);
  if (answer.kind !== "answered") return expect.fail("it answered");
  expect(Math.round((answer.skew ?? 0) / 60_000)).toBe(10);
  expect(seen).toEqual([["HEAD", undefined, undefined]]);
});

test("one that is not there is told with the reason, and a key with a blank before it is sent", async () => {
  const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
  expect(await reachApi(env, credential, signal)).toEqual({
    ...{ kind: "unreachable", host: "127.0.0.1:9", why: "ECONNREFUSED" },
  });
  const blank = { kind: "api_key", value: "sk ant" } as const;
  await expect(reachApi(env, blank, signal)).rejects.toThrow("holds a space or a line break");
});
