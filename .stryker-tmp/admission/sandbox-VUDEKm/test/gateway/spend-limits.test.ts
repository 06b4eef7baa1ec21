import { existsSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { SpendLimit } from "../../packages/core/src/runner/contract/spend-limit.ts";
import type { GatewayOptions } from "../../packages/core/src/runner/gateway/gateway.ts";
import { readCallRequest } from "../../packages/core/src/runner/gateway/metering/estimate.ts";
import {
  readSpendLog,
  spendLogPath,
} from "../../packages/core/src/runner/gateway/metering/spend-log.ts";
import {
  decideCall,
  type SpendState,
} from "../../packages/core/src/runner/gateway/metering/spend-meter.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import {
  createMeter,
  sendMessage,
  startGatewayTo,
  startUpstream,
  waitUntil,
} from "./upstream-stand-in.ts";

const model = "claude-opus-5-5";
const millionTokens = { input_tokens: 1_000_000, output_tokens: 100_000 };
/** $4 of input and $2 of output. */
const millionTokensUsd = 6;

function usdLimit(ceiling: number, more: Partial<SpendLimit> = {}): SpendLimit {
  return { key: "max_budget_usd", scope: "run", unit: "usd", limit: ceiling, ceiling, ...more };
}

function messageBody(more: object = {}): string {
  const messages = [{ role: "user", content: "hi" }];
  return JSON.stringify({ model, max_tokens: 1_000, messages, ...more });
}

function writeAnswer(response: ServerResponse, usage: object = millionTokens): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "message", model, usage }));
}

/** A gateway with a spend meter, in front of a stand-in of the API. */
async function startMeteredGateway(
  reply: (response: ServerResponse) => void,
  limits: readonly SpendLimit[] = [],
  options: Partial<GatewayOptions> = {},
) {
  const api = await startUpstream((request, response) => {
    request.resume().once("end", () => reply(response));
  });
  const folder = tempFolderWith({});
  const meter = createMeter(folder, limits);
  const gateway = await startGatewayTo(api.url, { account: { meter }, ...options });
  return { api, meter, gateway, logPath: spendLogPath(folder, 1) };
}

const state: SpendState = {
  limits: [usdLimit(1)],
  spent: { usd: 0, tokens: 0 },
  reserved: { usd: 0, tokens: 0 },
  callsInFlight: 0,
};

test.each<[what: string, change: Partial<SpendState>, kind: string]>([
  ["nothing is limited", { limits: [], spent: { usd: 99, tokens: 99 } }, "pass"],
  ["nothing is spent", {}, "pass"],
  ["something is left", { spent: { usd: 0.99, tokens: 0 } }, "pass"],
  ["nothing is left", { spent: { usd: 1, tokens: 0 } }, "refuse"],
  ["only rounding noise is left", { spent: { usd: 1 - 1e-12, tokens: 0 } }, "refuse"],
  ["calls in flight fit", { reserved: { usd: 0.5, tokens: 0 }, callsInFlight: 1 }, "pass"],
  [
    "calls in flight may use up the rest",
    { reserved: { usd: 2, tokens: 0 }, callsInFlight: 1 },
    "wait",
  ],
  [
    "tokens are limited",
    { limits: [usdLimit(10, { unit: "tokens" })], spent: { usd: 0, tokens: 10 } },
    "refuse",
  ],
])("decides on a call when %s", (_, change, kind) => {
  expect(decideCall({ ...state, ...change }).kind).toBe(kind);
});

test("names the first limit that is reached in a refusal", () => {
  const limits = [usdLimit(5), usdLimit(1, { key: "budget.daily_usd", scope: "fleet" })];
  expect(decideCall({ ...state, limits, spent: { usd: 2, tokens: 0 } })).toMatchObject({
    limit: { key: "budget.daily_usd" },
  });
});

test("refuses calls beyond the limit with an API error and does not forward them", async () => {
  const { api, gateway, meter } = await startMeteredGateway(writeAnswer, [usdLimit(10)]);
  const statuses: number[] = [];
  for (let call = 0; call < 5; call += 1) {
    const response = await sendMessage(gateway, { body: messageBody() });
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
  expect(meter.spending.usd).toBeCloseTo(2 * millionTokensUsd);
  expect(meter.refusedBy?.key).toBe("max_budget_usd");
});

test("does not let five concurrent calls share the rest for one", async () => {
  const { api, gateway } = await startMeteredGateway(writeAnswer, [usdLimit(millionTokensUsd)]);
  const body = messageBody({ max_tokens: 1_000_000 });
  const responses = await Promise.all(
    Array.from({ length: 5 }, () => sendMessage(gateway, { body })),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  expect(api.seen).toHaveLength(1);
});

test("runs concurrent calls that fit", async () => {
  const held: ServerResponse[] = [];
  const { gateway } = await startMeteredGateway(
    (response) => held.push(response),
    [usdLimit(millionTokensUsd)],
  );
  const asked = [1, 2, 3].map(() => sendMessage(gateway, { body: messageBody() }));
  await waitUntil(() => held.length === 3);
  for (const response of held) writeAnswer(response, { input_tokens: 1, output_tokens: 1 });
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test("forwards a waiting call when the limit is raised", async () => {
  const held: ServerResponse[] = [];
  const { gateway, meter } = await startMeteredGateway(
    (response) => held.push(response),
    [usdLimit(1)],
  );
  const body = messageBody({ max_tokens: 1_000_000 });
  const asked = [1, 2].map(() => sendMessage(gateway, { body }));
  await waitUntil(() => held.length === 1);
  meter.setLimits([usdLimit(100)]);
  await waitUntil(() => held.length === 2);
  for (const response of held) writeAnswer(response);
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200]);
});

test("forwards token counts for free when nothing is left", async () => {
  const { gateway, meter } = await startMeteredGateway(
    (response) => writeAnswer(response, {}),
    [usdLimit(0)],
  );
  const counted = await sendMessage(gateway, {
    path: "/v1/messages/count_tokens",
    body: messageBody(),
  });
  expect(counted.status).toBe(200);
  expect((await sendMessage(gateway, { body: messageBody() })).status).toBe(400);
  expect(meter.spending.usd).toBe(0);
});

test("counts nothing between two turns of a session", async () => {
  const { gateway, api } = await startMeteredGateway(writeAnswer, [], {
    account: { meter: undefined },
  });
  expect((await sendMessage(gateway, { body: messageBody() })).status).toBe(400);
  expect(api.seen).toHaveLength(0);
});

test("remembers a model without a price", async () => {
  const { gateway, meter } = await startMeteredGateway((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ model: "new-model", usage: { input_tokens: 1e6 } }));
  });
  for (let call = 0; call < 2; call += 1) {
    await (await sendMessage(gateway, { body: messageBody({ model: "new-model" }) })).text();
  }
  await waitUntil(() => gateway.meter().open === 0);
  expect(meter.spending.unknownModels).toEqual(["new-model"]);
  expect(meter.spending.usd).toBe(30);
});

describe("cost of an interrupted call", () => {
  const long = "x".repeat(400_000);
  const started = `event: message_start\ndata: ${JSON.stringify({
    type: "message_start",
    message: { model, usage: { input_tokens: 50_000, output_tokens: 1 } },
  })}\n\n`;
  const sse = { "content-type": "text/event-stream" };

  test.each<[what: string, (response: ServerResponse) => void, tokens: object]>([
    [
      "counts the estimate before the answer started",
      (response) => response.destroy(),
      { input_tokens: 100_000, output_tokens: 0 },
    ],
    [
      "counts the estimate before the answer reported usage",
      (response) => response.writeHead(200, sse).write(": hello\n\n", () => response.destroy()),
      { input_tokens: 100_000 },
    ],
    [
      "counts the known usage in the middle of the answer",
      (response) => {
        response.writeHead(200, sse).write(started);
        response.write(`event: content_block_delta\ndata: ${"y".repeat(8_000)}\n\n`, () =>
          setTimeout(() => response.destroy(), 50),
        );
      },
      { input_tokens: 50_000, output_tokens: 1_000 },
    ],
  ])("%s", async (_, reply, tokens) => {
    const { gateway, meter, logPath } = await startMeteredGateway(reply);
    const body = messageBody({ stream: true, messages: [{ role: "user", content: long }] });
    await sendMessage(gateway, { body })
      .then((response) => response.text())
      .catch(() => undefined);
    await waitUntil(() => gateway.meter().open === 0);
    const { usage } = meter.spending;
    for (const [name, least] of Object.entries(tokens)) {
      expect(Reflect.get(usage, name)).toBeGreaterThanOrEqual(least);
    }
    const [line] = await readSpendLog(logPath);
    expect(line?.parts[0]?.usd).toBeCloseTo(meter.spending.usd, 9);
  });

  test("counts the whole unstreamed answer when the client hangs up", async () => {
    const { gateway, meter, api } = await startMeteredGateway(() => undefined);
    const leaving = new AbortController();
    const asked = sendMessage(gateway, { body: messageBody(), signal: leaving.signal });
    await waitUntil(() => api.seen.length === 1);
    leaving.abort();
    await asked.catch(() => undefined);
    await waitUntil(() => gateway.meter().open === 0);
    expect(meter.spending.usage.output_tokens).toBe(1_000);
  });

  test("counts nothing for an unreachable API", async () => {
    const folder = tempFolderWith({});
    const meter = createMeter(folder);
    const gateway = await startGatewayTo("http://127.0.0.1:1", { account: { meter } });
    expect((await sendMessage(gateway, { body: messageBody() })).status).toBe(502);
    expect(meter.spending.usd).toBe(0);
  });

  test("counts nothing for an API error", async () => {
    const { gateway, meter } = await startMeteredGateway((response) =>
      response.writeHead(529).end("{}"),
    );
    expect((await sendMessage(gateway, { body: messageBody() })).status).toBe(529);
    expect(meter.spending.usd).toBe(0);
  });
});

test("records a call before it is forwarded, and again while its answer arrives", async () => {
  let atArrival = "{}";
  let go: () => void = () => undefined;
  const api = await startUpstream((request, response) => {
    atArrival = existsSync(logPath) ? readFileSync(logPath, "utf8") : "{}";
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: ping\ndata: ${"z".repeat(40_000)}\n\n`);
    go = () => response.end();
  });
  const folder = tempFolderWith({});
  const logPath = spendLogPath(folder, 1);
  const gateway = await startGatewayTo(api.url, { account: { meter: createMeter(folder) } });
  const body = messageBody({ stream: true, max_tokens: 64_000 });
  const response = await sendMessage(gateway, { body });
  expect(JSON.parse(atArrival)).toMatchObject({ call: 1, parts: [{ model, output_tokens: 0 }] });
  const [open] = await readSpendLog(logPath);
  expect(open?.parts[0]?.output_tokens).toBeGreaterThan(5_000);
  go();
  await response.text();
});

test("estimates attached files by their kind, not by their length", () => {
  const image = { type: "base64", media_type: "image/png", data: "A".repeat(4_000_000) };
  const messages = [{ role: "user", content: [{ type: "image", source: image }] }];
  const bytes = Buffer.from(JSON.stringify({ model, max_tokens: 10, messages }));
  expect(readCallRequest(bytes, undefined).inputTokens).toBeLessThan(6_000);
});

test.each([
  ["that is not JSON", Buffer.from("{"), undefined],
  ["that is encoded", Buffer.from(messageBody()), "gzip"],
])("finds no known model in a body %s", (_, bytes, encoding) => {
  const request = readCallRequest(bytes, encoding);
  expect(request.model).toBeUndefined();
  expect(request.inputTokens).toBeGreaterThan(0);
});
