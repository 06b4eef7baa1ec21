import { expect, test } from "vitest";
import { readRateLimit, resetsAt } from "../../packages/core/src/runner/gateway/rate-limits.ts";
import { createResponseReader } from "../../packages/core/src/runner/gateway/response-reader.ts";
import type { GatewayEvent } from "../../packages/core/src/runner/gateway/traffic-meter.ts";
import { sendMessage, startGatewayTo, startUpstream, waitUntil } from "./upstream-stand-in.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const secondsLater = (seconds: number) => now + seconds * 1000;

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

const expectedUsage = {
  model: "claude-x",
  usage: {
    input_tokens: 10,
    output_tokens: 42,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 7,
  },
};

test.each([1, 2, 7, 64, 100_000])("reads usage from a stream in parts of %i bytes", (size) => {
  const bytes = Buffer.from(stream);
  const reader = createResponseReader({ "content-type": "text/event-stream; charset=utf-8" });
  for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
  expect(reader.summary()).toEqual(expectedUsage);
});

test("detects an error in the middle of a stream", () => {
  const reader = createResponseReader({ "content-type": "text/event-stream" });
  reader.read(Buffer.from('event: error\r\ndata: {"error":{"type":"overloaded_error"}}\r\n\r\n'));
  expect(reader.summary()).toEqual({ errorType: "overloaded_error" });
});

test("reads usage from a whole message", () => {
  const reader = createResponseReader({ "content-type": "application/json" });
  reader.read(Buffer.from('{"type":"message","model":"claude-x","usage":{"input_tokens":10,'));
  reader.read(Buffer.from('"output_tokens":42,"cache_read_input_tokens":7}}'));
  expect(reader.summary()).toEqual(expectedUsage);
});

test.each([
  ["text/event-stream", `event: message_start\ndata: ${"x".repeat(9_000_000)}\n\n`],
  ["text/event-stream", "event: message_start\ndata: {broken\n\n"],
  ["application/json", `{"usage":{"input_tokens":1},"x":"${"x".repeat(9_000_000)}"}`],
  ["application/json", '{"usage":"odd","error":3}'],
  ["text/html", "<html>"],
])("reads nothing from an unreadable answer of %s", (type, text) => {
  const reader = createResponseReader({ "content-type": type });
  for (let at = 0; at < text.length; at += 65_536)
    reader.read(Buffer.from(text.slice(at, at + 65_536)));
  expect(reader.summary().usage).toBeUndefined();
});

test.each<[string, Record<string, string>, number | undefined]>([
  ["no information", {}, undefined],
  ["seconds to wait", { "retry-after": "120" }, secondsLater(120)],
  ["a date to wait for", { "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" }, secondsLater(60)],
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
    secondsLater(120),
  ],
  [
    "a used-up subscription",
    {
      "retry-after": "5",
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": String(secondsLater(18_000) / 1000),
    },
    secondsLater(18_000),
  ],
  [
    "a subscription that is not used up",
    {
      "anthropic-ratelimit-unified-status": "allowed",
      "anthropic-ratelimit-unified-reset": String(secondsLater(18_000) / 1000),
    },
    undefined,
  ],
])("computes the reset time from %s", (_, headers, expected) => {
  expect(resetsAt(headers, now)).toBe(expected);
});

test("counts only refusals for load or limits as limits", () => {
  const headers = { "retry-after": "7" };
  expect([200, 400, 401, 500].map((status) => readRateLimit(status, headers, now))).toEqual(
    Array(4).fill(undefined),
  );
  expect(readRateLimit(529, headers, now)).toMatchObject({ status: 529, retryAfterMs: 7000 });
});

test("keeps a limit until an answer succeeds", async () => {
  let limited = true;
  const api = await startUpstream((_, response) => {
    if (limited) response.writeHead(429, { "retry-after": "120" });
    response.end("{}");
  });
  const gateway = await startGatewayTo(api.url, { now: () => now });
  await sendMessage(gateway);
  expect(gateway.meter().limit).toMatchObject({ status: 429, resetsAt: secondsLater(120) });
  await sendMessage(gateway);
  expect(gateway.meter().limit).toBeDefined();
  limited = false;
  await sendMessage(gateway);
  expect(gateway.meter().limit).toBeUndefined();
});

test("sums usage by model and reports each request immediately", async () => {
  const api = await startUpstream((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(stream);
  });
  let clock = now;
  const events: GatewayEvent[] = [];
  const gateway = await startGatewayTo(api.url, {
    now: () => {
      clock += 1;
      return clock;
    },
    onEvent: (event) => events.push(structuredClone(event)),
  });
  for (let turn = 0; turn < 2; turn += 1) await (await sendMessage(gateway)).text();
  await waitUntil(() => gateway.meter().open === 0);
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

test("counts all refusals but keeps only the first", async () => {
  const api = await startUpstream((_, response) => response.end());
  const gateway = await startGatewayTo(api.url);
  for (let turn = 0; turn < 120; turn += 1) {
    await (await sendMessage(gateway, { path: `/v1/files/${"x".repeat(1000)}` })).text();
  }
  const { refused, refusals } = gateway.meter();
  expect(refused).toBe(120);
  expect(refusals).toHaveLength(100);
  expect(refusals[0]?.target.length).toBeLessThanOrEqual(200);
});
