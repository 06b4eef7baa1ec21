import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { GatewayOptions } from "../../packages/core/src/gateway/gateway.ts";
import {
  decideCall,
  type SpendLimit,
  type SpendState,
} from "../../packages/core/src/gateway/metering/decide-call.ts";
import { describeRequest } from "../../packages/core/src/gateway/metering/estimate.ts";
import { readSpendLog, spendLogPath } from "../../packages/core/src/gateway/metering/spend-log.ts";
import { folderWith } from "../support/folder.ts";
import { ask, eventually, gatewayTo, meterFor, standIn } from "./upstream.ts";

const model = "claude-opus-5-5";
const million = { input_tokens: 1_000_000, output_tokens: 100_000 };
/** $4 of input and $2 of output. */
const millionUsd = 6;

function upTo(ceiling: number, more: Partial<SpendLimit> = {}): SpendLimit {
  return { key: "max_budget_usd", scope: "run", unit: "usd", limit: ceiling, ceiling, ...more };
}

function messageBody(more: object = {}): string {
  const messages = [{ role: "user", content: "hi" }];
  return JSON.stringify({ model, max_tokens: 1_000, messages, ...more });
}

function answer(response: ServerResponse, usage: object = million): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "message", model, usage }));
}

/** A gateway whose run pays, in front of a stand-in of the API. */
async function paying(
  reply: (response: ServerResponse) => void,
  limits: readonly SpendLimit[] = [],
  options: Partial<GatewayOptions> = {},
) {
  const api = await standIn((request, response) => {
    request.resume().once("end", () => reply(response));
  });
  const folder = folderWith({});
  const meter = meterFor(folder, limits);
  const gateway = await gatewayTo(api.url, { account: { meter }, ...options });
  return { api, meter, gateway, logPath: spendLogPath(folder, 1) };
}

const state: SpendState = {
  limits: [upTo(1)],
  spent: { usd: 0, tokens: 0 },
  reserved: { usd: 0, tokens: 0 },
  callsInFlight: 0,
};

test.each<[what: string, change: Partial<SpendState>, kind: string]>([
  ["nothing is limited", { limits: [], spent: { usd: 99, tokens: 99 } }, "pass"],
  ["nothing is spent", {}, "pass"],
  ["something is left", { spent: { usd: 0.99, tokens: 0 } }, "pass"],
  ["nothing is left", { spent: { usd: 1, tokens: 0 } }, "refuse"],
  ["nothing is left but noise", { spent: { usd: 1 - 1e-12, tokens: 0 } }, "refuse"],
  ["calls in flight fit", { reserved: { usd: 0.5, tokens: 0 }, callsInFlight: 1 }, "pass"],
  [
    "calls in flight may use up what is left",
    { reserved: { usd: 2, tokens: 0 }, callsInFlight: 1 },
    "wait",
  ],
  [
    "tokens are limited",
    { limits: [upTo(10, { unit: "tokens" })], spent: { usd: 0, tokens: 10 } },
    "refuse",
  ],
])("a call when %s", (_, change, kind) => {
  expect(decideCall({ ...state, ...change }).kind).toBe(kind);
});

test("a refusal names the first limit that is reached", () => {
  const limits = [upTo(5), upTo(1, { key: "budget.daily_usd", scope: "fleet" })];
  expect(decideCall({ ...state, limits, spent: { usd: 2, tokens: 0 } })).toMatchObject({
    limit: { key: "budget.daily_usd" },
  });
});

test("calls beyond the limit are refused as an error of the API and do not reach it", async () => {
  const { api, gateway, meter } = await paying(answer, [upTo(10)]);
  const statuses: number[] = [];
  for (let call = 0; call < 5; call += 1) {
    const response = await ask(gateway, { body: messageBody() });
    statuses.push(response.status);
    if (response.status === 200) await response.text();
    else {
      expect(await response.json()).toMatchObject({
        type: "error",
        error: {
          type: "invalid_request_error",
          message: expect.stringContaining("max_budget_usd: $10"),
        },
      });
    }
  }
  expect(statuses).toEqual([200, 200, 400, 400, 400]);
  expect(api.seen).toHaveLength(2);
  expect(meter.spending.usd).toBeCloseTo(2 * millionUsd);
  expect(meter.refusedBy?.key).toBe("max_budget_usd");
});

test("five concurrent calls cannot share what is left for one", async () => {
  const { api, gateway } = await paying(answer, [upTo(millionUsd)]);
  const body = messageBody({ max_tokens: 1_000_000 });
  const responses = await Promise.all(Array.from({ length: 5 }, () => ask(gateway, { body })));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  expect(api.seen).toHaveLength(1);
});

test("concurrent calls that fit run concurrently", async () => {
  const held: ServerResponse[] = [];
  const { gateway } = await paying((response) => held.push(response), [upTo(millionUsd)]);
  const asked = [1, 2, 3].map(() => ask(gateway, { body: messageBody() }));
  await eventually(() => held.length === 3);
  for (const response of held) answer(response, { input_tokens: 1, output_tokens: 1 });
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test("a waiting call is forwarded when the limit is raised", async () => {
  const held: ServerResponse[] = [];
  const { gateway, meter } = await paying((response) => held.push(response), [upTo(1)]);
  const body = messageBody({ max_tokens: 1_000_000 });
  const asked = [1, 2].map(() => ask(gateway, { body }));
  await eventually(() => held.length === 1);
  meter.setLimits([upTo(100)]);
  await eventually(() => held.length === 2);
  for (const response of held) answer(response);
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200]);
});

test("token counts are free and pass when nothing is left", async () => {
  const { gateway, meter } = await paying((response) => answer(response, {}), [upTo(0)]);
  const counted = await ask(gateway, { path: "/v1/messages/count_tokens", body: messageBody() });
  expect(counted.status).toBe(200);
  expect((await ask(gateway, { body: messageBody() })).status).toBe(400);
  expect(meter.spending.usd).toBe(0);
});

test("nothing is spent between two turns of a session", async () => {
  const { gateway, api } = await paying(answer, [], { account: { meter: undefined } });
  expect((await ask(gateway, { body: messageBody() })).status).toBe(400);
  expect(api.seen).toHaveLength(0);
});

test("a model without a price is remembered", async () => {
  const { gateway, meter } = await paying((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ model: "new-model", usage: { input_tokens: 1e6 } }));
  });
  for (let call = 0; call < 2; call += 1) {
    await (await ask(gateway, { body: messageBody({ model: "new-model" }) })).text();
  }
  await eventually(() => gateway.meter().open === 0);
  expect(meter.unknownModels).toEqual(["new-model"]);
  expect(meter.spending.usd).toBe(30);
});

describe("a call that breaks off is not free", () => {
  const long = "x".repeat(400_000);
  const started = `event: message_start\ndata: ${JSON.stringify({
    type: "message_start",
    message: { model, usage: { input_tokens: 50_000, output_tokens: 1 } },
  })}\n\n`;
  const sse = { "content-type": "text/event-stream" };

  test.each<[what: string, (response: ServerResponse) => void, tokens: object]>([
    [
      "before its answer began",
      (response) => response.destroy(),
      { input_tokens: 100_000, output_tokens: 0 },
    ],
    [
      "before the answer told anything",
      (response) => response.writeHead(200, sse).write(": hello\n\n", () => response.destroy()),
      { input_tokens: 100_000 },
    ],
    [
      "in the middle of the answer",
      (response) => {
        response.writeHead(200, sse).write(started);
        response.write(`event: content_block_delta\ndata: ${"y".repeat(8_000)}\n\n`, () =>
          setTimeout(() => response.destroy(), 50),
        );
      },
      { input_tokens: 50_000, output_tokens: 1_000 },
    ],
  ])("%s", async (_, reply, tokens) => {
    const { gateway, meter, logPath } = await paying(reply);
    const body = messageBody({ stream: true, messages: [{ role: "user", content: long }] });
    await ask(gateway, { body })
      .then((response) => response.text())
      .catch(() => undefined);
    await eventually(() => gateway.meter().open === 0);
    const { usage } = meter.spending;
    for (const [name, least] of Object.entries(tokens)) {
      expect(Reflect.get(usage, name)).toBeGreaterThanOrEqual(least);
    }
    const [line] = await readSpendLog(logPath);
    expect(line?.parts[0]?.usd).toBeCloseTo(meter.spending.usd, 9);
  });

  test("a client that hangs up pays for the whole answer when it would have come in one piece", async () => {
    const { gateway, meter, api } = await paying(() => undefined);
    const leaving = new AbortController();
    const asked = ask(gateway, { body: messageBody(), signal: leaving.signal });
    await eventually(() => api.seen.length === 1);
    leaving.abort();
    await asked.catch(() => undefined);
    await eventually(() => gateway.meter().open === 0);
    expect(meter.spending.usage.output_tokens).toBe(1_000);
  });

  test("an API that cannot be reached costs nothing", async () => {
    const folder = folderWith({});
    const meter = meterFor(folder);
    const gateway = await gatewayTo("http://127.0.0.1:1", { account: { meter } });
    expect((await ask(gateway, { body: messageBody() })).status).toBe(502);
    expect(meter.spending.usd).toBe(0);
  });

  test("an error of the API costs nothing", async () => {
    const { gateway, meter } = await paying((response) => response.writeHead(529).end("{}"));
    expect((await ask(gateway, { body: messageBody() })).status).toBe(529);
    expect(meter.spending.usd).toBe(0);
  });
});

test("a call is on record before the API sees it, and again while its answer arrives", async () => {
  let atArrival = "";
  let go: () => void = () => undefined;
  const api = await standIn((request, response) => {
    atArrival = readFileSync(logPath, "utf8");
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: ping\ndata: ${"z".repeat(40_000)}\n\n`);
    go = () => response.end();
  });
  const folder = folderWith({});
  const logPath = spendLogPath(folder, 1);
  const gateway = await gatewayTo(api.url, { account: { meter: meterFor(folder) } });
  const body = messageBody({ stream: true, max_tokens: 64_000 });
  const response = await ask(gateway, { body });
  expect(JSON.parse(atArrival)).toMatchObject({ call: 1, parts: [{ model, output_tokens: 0 }] });
  const [open] = await readSpendLog(logPath);
  expect(open?.parts[0]?.output_tokens).toBeGreaterThan(5_000);
  go();
  await response.text();
});

test("attached files are estimated by what they are, not by their length", () => {
  const image = { type: "base64", media_type: "image/png", data: "A".repeat(4_000_000) };
  const messages = [{ role: "user", content: [{ type: "image", source: image }] }];
  const bytes = Buffer.from(JSON.stringify({ model, max_tokens: 10, messages }));
  expect(describeRequest(bytes, undefined).inputTokens).toBeLessThan(6_000);
});

test.each([
  ["that is no JSON", Buffer.from("{"), undefined],
  ["that is encoded", Buffer.from(messageBody()), "gzip"],
])("a body %s has no known model", (_, bytes, encoding) => {
  const request = describeRequest(bytes, encoding);
  expect(request.model).toBeUndefined();
  expect(request.inputTokens).toBeGreaterThan(0);
});
