import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { sendMessage, startGatewayTo, startUpstream, waitUntil } from "./upstream-stand-in.ts";

/** Every new connection of a server. */
function connectionsOf(server: Server): Socket[] {
  const all: Socket[] = [];
  server.on("connection", (socket: Socket) => all.push(socket));
  return all;
}

async function startCountingApi() {
  const api = await startUpstream((_, response) => response.end("{}"));
  return { ...api, connections: connectionsOf(api.server) };
}

async function startReadyGateway(url: string) {
  const gateway = await startGatewayTo(url);
  gateway.preconnect();
  return gateway;
}

test("connects to the API before the first request, which uses the connection", async () => {
  const { url, seen, connections } = await startCountingApi();
  const gateway = await startReadyGateway(url);
  await waitUntil(() => connections.length === 1);
  expect(seen).toHaveLength(0);

  expect((await sendMessage(gateway)).status).toBe(200);
  expect(connections).toHaveLength(1);
});

test("opens a second connection for a concurrent request and keeps both", async () => {
  const { url, connections } = await startCountingApi();
  const gateway = await startReadyGateway(url);
  await Promise.all(
    [sendMessage(gateway), sendMessage(gateway)].map(async (one) => (await one).text()),
  );
  expect(connections).toHaveLength(2);
  await (await sendMessage(gateway)).text();
  expect(connections).toHaveLength(2);
});

test("does not use a connection that the API has closed", async () => {
  const { url, connections } = await startCountingApi();
  const gateway = await startReadyGateway(url);
  await waitUntil(() => connections.length === 1);
  connections[0]?.end();
  await waitUntil(() => connections[0]?.closed === true);

  expect((await sendMessage(gateway)).status).toBe(200);
  expect(connections).toHaveLength(2);
});

test("closes an unused connection after a while", async () => {
  const { connections, url } = await startCountingApi();
  const gateway = await startReadyGateway(url);
  await waitUntil(() => connections.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  expect(connections[0]?.closed).toBe(false);
  await waitUntil(() => connections[0]?.closed === true);

  expect((await sendMessage(gateway)).status).toBe(200);
});

test("leaves no connection behind when stopped", async () => {
  const { url, connections } = await startCountingApi();
  const gateway = await startReadyGateway(url);
  await waitUntil(() => connections.length === 1);
  await gateway.stop();
  await waitUntil(() => connections[0]?.closed === true);
});

test("completes the TLS handshake with the host's name before the first request", async () => {
  const file = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
  const names: (string | false | null | undefined)[] = [];
  const api = createServer({ key: file("key.pem"), cert: file("cert.pem") }, (_, response) => {
    response.end("over TLS");
  });
  api.on("secureConnection", ({ servername }) => names.push(servername));
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  onTestFinished(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    api.closeAllConnections();
    api.close();
  });
  const gateway = await startReadyGateway(
    `https://localhost:${(api.address() as AddressInfo).port}`,
  );
  await waitUntil(() => names.length === 1);
  expect(await (await sendMessage(gateway)).text()).toBe("over TLS");
  expect(names).toEqual(["localhost"]);
});
