import { connect } from "node:net";
import { expect, test } from "vitest";
import { ask, eventually, gatewayTo, standIn } from "./upstream.ts";

test("a connection that sends no headers in time is closed", async () => {
  const api = await standIn((_, response) => response.end("{}"));
  const gateway = await gatewayTo(api.url, { limits: { headersTimeoutMs: 100 } });
  const slow = connect(gateway.socketPath);
  slow.write("POST /v1/messages HTTP/1.1\r\n");
  const silent = connect(gateway.socketPath);
  for (const socket of [slow, silent]) socket.on("error", () => undefined).resume();
  await eventually(() => slow.destroyed && silent.destroyed);
  expect(api.seen).toEqual([]);
});

test("connections without the key make way for new ones, one with the key stays", async () => {
  const api = await standIn((_, response) => response.end("{}"));
  const gateway = await gatewayTo(api.url, { limits: { maxUnauthenticated: 3 } });
  const open = (text: string) => {
    const socket = connect(gateway.socketPath);
    socket.on("error", () => undefined).write(text);
    return socket.resume();
  };
  const key = `host: x\r\nx-api-key: ${gateway.placeholder}`;
  const known = open(`GET /v1/models HTTP/1.1\r\n${key}\r\n\r\n`);
  await eventually(() => gateway.meter().requests === 1 && gateway.meter().open === 0);
  const strangers = Array.from({ length: 10 }, () => open("GET / HTTP/1.1\r\n"));
  await eventually(() => strangers.filter((socket) => socket.destroyed).length >= 7);
  expect((await ask(gateway)).status).toBe(200);
  expect(known.destroyed).toBe(false);
  for (const socket of [known, ...strangers]) socket.destroy();
});

test("more connections than one agent needs are not accepted", async () => {
  const api = await standIn((_, response) => response.end("{}"));
  const gateway = await gatewayTo(api.url, { limits: { maxConnections: 4 } });
  const sockets = Array.from({ length: 8 }, () => connect(gateway.socketPath));
  for (const socket of sockets) socket.on("error", () => undefined).resume();
  await eventually(() => sockets.filter((socket) => socket.destroyed).length === 4);
  for (const socket of sockets) socket.destroy();
});
