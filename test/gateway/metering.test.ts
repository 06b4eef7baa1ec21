import { expect, test } from "vitest";
import { readRateLimit, resetsAt } from "../../packages/core/src/gateway/limits.ts";
import type { GatewayEvent } from "../../packages/core/src/gateway/meter.ts";
import { answerReader } from "../../packages/core/src/gateway/usage.ts";
import { ask, eventually, gatewayTo, standIn } from "./upstream.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const after = (seconds: number) => now + seconds * 1000;

const stream = [
  "event: message_start",
  'data: {"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":7}}}',
  "",
  "event: content_block_delta",
  `data: {"type":"content_block_delta","delta":{"text":"${"ü\\n".repeat(1000)}event: message_delta"}}`,
  "",
  "event: message_delta",
  'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":42}}',
  "",
  "event: message_stop",
  'data: {"type":"message_stop"}',
  "",
  "",
].join("\n");

const counted = {
  model: "claude-x",
  usage: {
    input_tokens: 10,
    output_tokens: 42,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 7,
  },
};

test.each([1, 2, 7, 64, 100_000])("usage is read from a stream in parts of %i bytes", (size) => {
  const bytes = Buffer.from(stream);
  const reader = answerReader({ "content-type": "text/event-stream; charset=utf-8" });
  for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
  expect(reader.facts()).toEqual(counted);
});

test("an error in the middle of a stream is seen", () => {
  const reader = answerReader({ "content-type": "text/event-stream" });
  reader.read(Buffer.from('event: error\r\ndata: {"error":{"type":"overloaded_error"}}\r\n\r\n'));
  expect(reader.facts()).toEqual({ errorType: "overloaded_error" });
});

test("usage is read from a whole message", () => {
  const reader = answerReader({ "content-type": "application/json" });
  reader.read(Buffer.from('{"type":"message","model":"claude-x","usage":{"input_tokens":10,'));
  reader.read(Buffer.from('"output_tokens":42,"cache_read_input_tokens":7}}'));
  expect(reader.facts()).toEqual(counted);
});

test.each([
  ["text/event-stream", `event: message_start\ndata: ${"x".repeat(9_000_000)}\n\n`],
  ["text/event-stream", "event: message_start\ndata: {broken\n\n"],
  ["application/json", `{"usage":{"input_tokens":1},"x":"${"x".repeat(9_000_000)}"}`],
  ["application/json", '{"usage":"odd","error":3}'],
  ["text/html", "<html>"],
])("an answer of %s that cannot be read tells nothing", (type, text) => {
  const reader = answerReader({ "content-type": type });
  for (let at = 0; at < text.length; at += 65_536)
    reader.read(Buffer.from(text.slice(at, at + 65_536)));
  expect(reader.facts().usage).toBeUndefined();
});

test.each<[string, Record<string, string>, number | undefined]>([
  ["nothing said", {}, undefined],
  ["seconds to wait", { "retry-after": "120" }, after(120)],
  ["a date to wait for", { "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" }, after(60)],
  ["a date long past", { "retry-after": "Wed, 01 Jan 2020 00:00:00 GMT" }, now],
  ["nonsense", { "retry-after": "soon" }, undefined],
  [
    "the latest of the empty buckets",
    {
      "retry-after": "5",
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:30Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-01-01T00:02:00Z",
      "anthropic-ratelimit-output-tokens-remaining": "9",
      "anthropic-ratelimit-output-tokens-reset": "2026-01-01T09:00:00Z",
    },
    after(120),
  ],
  [
    "a subscription that is used up",
    {
      "retry-after": "5",
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": String(after(18_000) / 1000),
    },
    after(18_000),
  ],
  [
    "a subscription that is not used up",
    {
      "anthropic-ratelimit-unified-status": "allowed",
      "anthropic-ratelimit-unified-reset": String(after(18_000) / 1000),
    },
    undefined,
  ],
])("when to come back: %s", (_, headers, expected) => {
  expect(resetsAt(headers, now)).toBe(expected);
});

test("only refusals for load or limits count as limits", () => {
  const headers = { "retry-after": "7" };
  expect([200, 400, 401, 500].map((status) => readRateLimit(status, headers, now))).toEqual(
    Array(4).fill(undefined),
  );
  expect(readRateLimit(529, headers, now)).toMatchObject({ status: 529, retryAfterMs: 7000 });
});

test("a limit stands until an answer succeeds", async () => {
  let limited = true;
  const api = await standIn((_, response) => {
    if (limited) response.writeHead(429, { "retry-after": "120" });
    response.end("{}");
  });
  const gateway = await gatewayTo(api.url, { now: () => now });
  await ask(gateway);
  expect(gateway.meter().limit).toMatchObject({ status: 429, resetsAt: after(120) });
  await ask(gateway);
  expect(gateway.meter().limit).toBeDefined();
  limited = false;
  await ask(gateway);
  expect(gateway.meter().limit).toBeUndefined();
});

test("what passed is summed up by model, and each request is told of as it goes", async () => {
  const api = await standIn((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(stream);
  });
  let clock = now;
  const events: GatewayEvent[] = [];
  const gateway = await gatewayTo(api.url, {
    now: () => {
      clock += 1;
      return clock;
    },
    onEvent: (event) => events.push(structuredClone(event)),
  });
  for (let turn = 0; turn < 2; turn += 1) await (await ask(gateway)).text();
  await eventually(() => gateway.meter().open === 0);
  expect(gateway.meter()).toMatchObject({
    requests: 2,
    usage: { input_tokens: 20, output_tokens: 84 },
    byModel: { "claude-x": { output_tokens: 84 } },
    bytesUp: 26,
    bytesDown: 2 * Buffer.byteLength(stream),
    refused: 0,
  });
  expect(gateway.meter().lastActivityAt).toBeGreaterThan(now);
  expect(events.map((event) => event.type)).toEqual([
    "request",
    "response",
    "end",
    "request",
    "response",
    "end",
  ]);
  expect(events.at(-1)).toMatchObject({
    request: { id: 2, status: 200, ending: "complete", model: "claude-x", bytesUp: 13 },
  });
});

test("refusals are counted without end but kept only at first", async () => {
  const api = await standIn((_, response) => response.end());
  const gateway = await gatewayTo(api.url);
  for (let turn = 0; turn < 120; turn += 1) {
    await (await ask(gateway, { path: `/v1/files/${"x".repeat(1000)}` })).text();
  }
  const { refused, refusals } = gateway.meter();
  expect(refused).toBe(120);
  expect(refusals).toHaveLength(100);
  expect(refusals[0]?.target.length).toBeLessThanOrEqual(200);
});
