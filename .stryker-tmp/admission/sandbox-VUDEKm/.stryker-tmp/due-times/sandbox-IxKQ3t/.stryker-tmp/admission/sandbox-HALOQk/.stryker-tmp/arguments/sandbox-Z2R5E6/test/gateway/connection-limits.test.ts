import { connect } from "node:net";
import { expect, test } from "vitest";
import { sendMessage, startGatewayTo, startUpstream, waitUntil } from "./upstream-stand-in.ts";

test("closes a connection that sends no headers in time", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url, { limits: { headersTimeoutMs: 100 } });
  const slow = connect(gateway.socketPath);
  slow.write("POST /v1/messages HTTP/1.1\r\n");
  const silent = connect(gateway.socketPath);
  for (const socket of [slow, silent]) socket.on("error", () => undefined).resume();
  await waitUntil(() => slow.destroyed && silent.destroyed);
  expect(api.seen).toEqual([]);
});

test("closes connections without the key for new ones, and keeps one with the key", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url, { limits: { maxUnauthenticated: 3 } });
  const open = (text: string) => {
    const socket = connect(gateway.socketPath);
    socket.on("error", () => undefined).write(text);
    return socket.resume();
  };
  const key = `host: x\r\nx-api-key: ${gateway.placeholder}`;
  const known = open(`GET /v1/models HTTP/1.1\r\n${key}\r\n\r\n`);
  await waitUntil(() => gateway.meter().requests === 1 && gateway.meter().open === 0);
  const strangers = Array.from({ length: 10 }, () => open("GET / HTTP/1.1\r\n"));
  await waitUntil(() => strangers.filter((socket) => socket.destroyed).length >= 7);
  expect((await sendMessage(gateway)).status).toBe(200);
  expect(known.destroyed).toBe(false);
  for (const socket of [known, ...strangers]) socket.destroy();
});

test("refuses more connections than one agent needs", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url, { limits: { maxConnections: 4 } });
  const sockets = Array.from({ length: 8 }, () => connect(gateway.socketPath));
  for (const socket of sockets) socket.on("error", () => undefined).resume();
  await waitUntil(() => sockets.filter((socket) => socket.destroyed).length === 4);
  for (const socket of sockets) socket.destroy();
});
