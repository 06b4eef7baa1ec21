import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ask, eventually, gatewayTo, standIn } from "./upstream.ts";

/** Every connection that a server is given, from now on. */
function connectionsOf(server: Server): Socket[] {
  const all: Socket[] = [];
  server.on("connection", (socket: Socket) => all.push(socket));
  return all;
}

async function apiWith() {
  const api = await standIn((_, response) => response.end("{}"));
  return { ...api, connections: connectionsOf(api.server) };
}

async function readyGateway(url: string) {
  const gateway = await gatewayTo(url);
  gateway.getReady();
  return gateway;
}

test("the API is connected to before there is a request, and the first one finds it so", async () => {
  const { url, seen, connections } = await apiWith();
  const gateway = await readyGateway(url);
  await eventually(() => connections.length === 1);
  expect(seen).toHaveLength(0);

  expect((await ask(gateway)).status).toBe(200);
  expect(connections).toHaveLength(1);
});

test("it is one connection: two requests at once open another, and both are kept for the next", async () => {
  const { url, connections } = await apiWith();
  const gateway = await readyGateway(url);
  await Promise.all([ask(gateway), ask(gateway)].map(async (one) => (await one).text()));
  expect(connections).toHaveLength(2);
  await (await ask(gateway)).text();
  expect(connections).toHaveLength(2);
});

test("one that the API has ended is not used", async () => {
  const { url, connections } = await apiWith();
  const gateway = await readyGateway(url);
  await eventually(() => connections.length === 1);
  connections[0]?.end();
  await eventually(() => connections[0]?.closed === true);

  expect((await ask(gateway)).status).toBe(200);
  expect(connections).toHaveLength(2);
});

test("one that no request has come for goes after a while", async () => {
  const { connections, url } = await apiWith();
  const gateway = await readyGateway(url);
  await eventually(() => connections.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  expect(connections[0]?.closed).toBe(false);
  await eventually(() => connections[0]?.closed === true);

  expect((await ask(gateway)).status).toBe(200);
});

test("a gateway that is stopped leaves none behind", async () => {
  const { url, connections } = await apiWith();
  const gateway = await readyGateway(url);
  await eventually(() => connections.length === 1);
  await gateway.stop();
  await eventually(() => connections[0]?.closed === true);
});

test("on TLS it has the name of the host, and is encrypted before the first request", async () => {
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
  const gateway = await readyGateway(`https://localhost:${(api.address() as AddressInfo).port}`);
  await eventually(() => names.length === 1);
  expect(await (await ask(gateway)).text()).toBe("over TLS");
  expect(names).toEqual(["localhost"]);
});
