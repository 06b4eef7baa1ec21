import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { GatewayEvent } from "../../packages/core/src/runner/gateway/traffic-meter.ts";
import {
  realKey,
  sendMessage,
  startGatewayTo,
  startUpstream,
  waitUntil,
} from "./upstream-stand-in.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

function bytesInUse(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

const sse = { "content-type": "text/event-stream" };

test("forwards a stream as it arrives", async () => {
  let goOn = () => {};
  const more = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const api = await startUpstream(async (_, response) => {
    response.writeHead(200, sse);
    response.write("event: ping\ndata: {}\n\n");
    await more;
    response.end("event: done\ndata: {}\n\n");
  });
  const gateway = await startGatewayTo(api.url);
  const response = await sendMessage(gateway);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toContain("ping");
  goOn();
  expect((await reader?.read())?.value).toContain("done");
});

test("ends the client's stream when the upstream breaks off", async () => {
  const api = await startUpstream(async (_, response) => {
    response.writeHead(200, sse);
    response.write("event: ping\ndata: {}\n\n");
    await sleep(20);
    response.destroy();
  });
  const events: GatewayEvent[] = [];
  const gateway = await startGatewayTo(api.url, { onEvent: (event) => events.push(event) });
  const response = await sendMessage(gateway);
  await expect(response.text()).rejects.toThrow();
  await waitUntil(() => gateway.meter().open === 0);
  expect(events.at(-1)).toMatchObject({ type: "end", request: { ending: "cut", status: 200 } });
});

test("ends the client's answer early when the upstream sends less than announced", async () => {
  const api = await startUpstream((_, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("short");
    setTimeout(() => response.destroy(), 20);
  });
  const gateway = await startGatewayTo(api.url);
  await expect(sendMessage(gateway).then((response) => response.text())).rejects.toThrow();
});

test("ends the upstream request when the client leaves", async () => {
  const api = await startUpstream((_, response) => {
    response.writeHead(200, sse);
    response.write("event: ping\ndata: {}\n\n");
  });
  const events: GatewayEvent[] = [];
  const gateway = await startGatewayTo(api.url, { onEvent: (event) => events.push(event) });
  const leaving = new AbortController();
  await sendMessage(gateway, { signal: leaving.signal });
  const closed = once(api.seen[0]?.socket ?? expect.fail("no request came"), "close");
  leaving.abort();
  await closed;
  await waitUntil(() => gateway.meter().open === 0);
  expect(events.at(-1)).toMatchObject({ type: "end", request: { ending: "client_gone" } });
});

test("ends the upstream request when the client leaves before any answer", async () => {
  const api = await startUpstream(() => undefined);
  const gateway = await startGatewayTo(api.url);
  const leaving = new AbortController();
  const asked = sendMessage(gateway, { signal: leaving.signal }).catch(() => "left");
  await waitUntil(() => api.seen.length === 1);
  leaving.abort();
  expect(await asked).toBe("left");
  await waitUntil(() => api.seen[0]?.socket.destroyed === true && gateway.meter().open === 0);
});

test("delivers an early refusal of a long request", async () => {
  const api = await startUpstream((_, response) => {
    response.writeHead(413, { "content-type": "application/json", connection: "close" });
    response.end('{"type":"error","error":{"type":"request_too_large","message":"x"}}');
  });
  const gateway = await startGatewayTo(api.url);
  const response = await sendMessage(gateway, { body: "x".repeat(200_000) });
  expect(response.status).toBe(413);
  expect(await response.text()).toContain("request_too_large");
});

test("applies a slow client's backpressure to the upstream, with little memory for 40 MB", async () => {
  const chunk = Buffer.alloc(64 * 1024, "event: ping\ndata: {}\n\n");
  const total = 640;
  let sent = 0;
  const api = await startUpstream(async (_, response) => {
    response.writeHead(200, sse);
    for (; sent < total; sent += 1) {
      if (!response.write(chunk)) await once(response, "drain");
    }
    response.end();
  });
  const gateway = await startGatewayTo(api.url);
  const response = await sendMessage(gateway);
  const reader = response.body?.getReader() ?? expect.fail("no body");
  await reader.read();
  await sleep(200);
  // The data in transit is in the buffers of four sockets, not in the gateway.
  expect(sent).toBeLessThan(total);
  const before = bytesInUse();
  let peak = 0;
  let parts = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts += 1;
    if (parts % 100 === 0) peak = Math.max(peak, bytesInUse() - before);
  }
  expect(gateway.meter().bytesDown).toBe(total * chunk.length);
  expect(peak).toBeLessThan(16 * 1024 * 1024);
});

test("streams a long request unchanged to the upstream", async () => {
  let received = 0;
  const api = await startUpstream(async (incoming, response) => {
    for await (const part of incoming) received += part.length;
    response.end("{}");
  });
  const gateway = await startGatewayTo(api.url);
  const outgoing = request(`${gateway.baseUrl}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": gateway.placeholder },
  });
  const part = Buffer.alloc(1024 * 1024, "a");
  for (let index = 0; index < 20; index += 1) {
    if (!outgoing.write(part)) await once(outgoing, "drain");
  }
  outgoing.end();
  const [response] = await once(outgoing, "response");
  response.resume();
  expect(received).toBe(20 * part.length);
  expect(gateway.meter().bytesUp).toBe(received);
});

test("keeps twenty concurrent requests separate", async () => {
  const api = await startUpstream(async (incoming, response) => {
    let body = "";
    for await (const part of incoming) body += part;
    await sleep(20);
    response.end(body);
  });
  const gateway = await startGatewayTo(api.url);
  const bodies = Array.from({ length: 20 }, (_, index) => `body ${index}`);
  const answers = bodies.map(async (body) => (await sendMessage(gateway, { body })).text());
  expect(await Promise.all(answers)).toEqual(bodies);
  expect(gateway.meter()).toMatchObject({ requests: 20, open: 0 });
});

test("removes a key that the upstream echoes", async () => {
  const api = await startUpstream((incoming, response) => {
    const body = JSON.stringify({ error: { type: "x", message: incoming.headers } });
    response.writeHead(400, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "x-echo": String(incoming.headers["x-api-key"]),
    });
    response.write(body.slice(0, body.indexOf(realKey) + 5));
    setTimeout(() => response.end(body.slice(body.indexOf(realKey) + 5)), 20);
  });
  const events: GatewayEvent[] = [];
  const gateway = await startGatewayTo(api.url, { onEvent: (event) => events.push(event) });
  const response = await sendMessage(gateway);
  const text = await response.text();
  expect(() => JSON.parse(text)).not.toThrow();
  expect(text).toContain("*".repeat(realKey.length));
  expect(text + [...response.headers].join()).not.toContain(realKey);
  expect(JSON.stringify([events, gateway.meter(), gateway])).not.toContain(realKey);
});

test("cuts all requests on stop", async () => {
  const api = await startUpstream((_, response) => {
    response.writeHead(200, sse);
    response.write("event: ping\ndata: {}\n\n");
  });
  const gateway = await startGatewayTo(api.url);
  const response = await sendMessage(gateway);
  await gateway.stop();
  await expect(response.text()).rejects.toThrow();
  await waitUntil(() => api.seen[0]?.socket.destroyed === true);
});
