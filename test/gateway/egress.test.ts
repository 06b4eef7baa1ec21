import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { EgressEvent } from "../../packages/core/src/runner/gateway/egress/traffic.ts";
import { summarizeRefusals } from "../../packages/core/src/runner/gateway/traffic-meter.ts";
import {
  allowAnyProtocol,
  allowHost,
  connectToEgress,
  readAll,
  sendBytes,
  startRawHost,
  startTestEgress,
} from "./egress-hosts.ts";
import { startUpstream, waitUntil } from "./upstream-stand-in.ts";

const close = "connection: close\r\n\r\n";
const portOf = (url: string) => Number(new URL(url).port);

test("reaches an open host by plain request and by an unchecked tunnel", async () => {
  const host = await startUpstream((request, response) =>
    response.end(`you asked for ${request.url}`),
  );
  const port = portOf(host.url);
  const egress = await startTestEgress([allowAnyProtocol("registry.test", port)]);
  const get = await sendBytes(
    egress,
    `GET http://registry.test:${port}/a?b=c HTTP/1.1\r\nhost: x\r\n${close}`,
  );
  expect(get).toMatch(/^HTTP\/1\.1 200 [\s\S]*you asked for \/a\?b=c/);
  const through = await sendBytes(
    egress,
    `CONNECT REGISTRY.test:${port} HTTP/1.1\r\nhost: x\r\n\r\nGET /t HTTP/1.1\r\nhost: registry.test\r\n${close}`,
  );
  expect(through).toMatch(
    /^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 [\s\S]*for \/t/,
  );
  expect(egress.refusedHosts()).toEqual([]);
});

test("refuses any other host with the rule that would open it, and reports it once", async () => {
  const events: EgressEvent[] = [];
  const lookups: string[] = [];
  const egress = await startTestEgress(["npm"], {
    onEvent: (event) => events.push(event),
    resolve: async (host) => {
      lookups.push(host);
      return ["127.0.0.1"];
    },
  });
  const tunnel = "CONNECT registry.example.com:443 HTTP/1.1\r\nhost: registry.npmjs.org\r\n\r\n";
  for (const turn of [1, 2]) {
    const answer = await sendBytes(egress, tunnel);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain("docker.egress: [registry.example.com]");
    expect(events).toHaveLength(turn);
  }
  expect(
    await sendBytes(egress, `GET http://10.0.0.5:8080/ HTTP/1.1\r\nhost: x\r\n${close}`),
  ).toMatch(/^HTTP\/1\.1 403 /);
  expect(egress.refusedHosts()).toEqual([
    {
      host: "registry.example.com",
      port: 443,
      count: 2,
      reason: "the host is not allowed for this agent",
      remedy: "docker.egress: [registry.example.com]",
    },
    {
      host: "10.0.0.5",
      port: 8080,
      count: 1,
      reason: "hosts are allowed by name, not by address",
    },
  ]);
  expect(summarizeRefusals(undefined, egress.refusedHosts())[0]).toMatchObject({
    target: "registry.example.com:443",
    count: 2,
    remedy: "docker.egress: [registry.example.com]",
  });
  expect(lookups).toEqual([]);
  expect(egress.meter()).toEqual({ open: 0, refused: 3, byHost: {} });
});

test.each([
  ["registry.test.", 403],
  ["127.0.0.1", 403],
  ["2130706433", 403],
  ["0x7f.1", 403],
  ["[::1]", 403],
  ["[::ffff:127.0.0.1]", 403],
  ["user@registry.test", 403],
  ["registry.test%00.evil.test", 403],
  ["registry.test\0.evil.test", 400],
  ["regi\x01stry.test", 400],
  ["registr\xff.test", 400],
  ["registry.test\t", 400],
])("opens no tunnel to %j", async (name, status) => {
  const host = await startRawHost((socket) => socket.end("reached"));
  const egress = await startTestEgress([allowHost("registry.test", host.port)]);
  const answer = await sendBytes(
    egress,
    `CONNECT ${name}:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`,
  );
  expect(answer).not.toContain("reached");
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test("explains a refused request that is not for a proxy", async () => {
  const egress = await startTestEgress(["npm"]);
  expect(await sendBytes(egress, `GET / HTTP/1.1\r\nhost: registry.npmjs.org\r\n${close}`)).toMatch(
    /^HTTP\/1\.1 403 [\s\S]*only http:\/\/ URLs and tunnels/,
  );
});

test("sends the requested Host header to the host", async () => {
  const host = await startUpstream((_, response) => response.end());
  const port = portOf(host.url);
  const egress = await startTestEgress([allowHost("registry.test", port)]);
  await sendBytes(
    egress,
    [
      `GET http://Registry.test:${port}/ HTTP/1.1`,
      "host: neighbour.test",
      "connection: close, x-hop, host",
      "x-hop: 1",
      "proxy-authorization: Basic eA==",
      "proxy-connection: keep-alive",
      "upgrade: websocket",
      "x-kept: 1\r\n\r\n",
    ].join("\r\n"),
  );
  expect(host.seen[0]?.headers).toMatchObject({ host: `registry.test:${port}`, "x-kept": "1" });
  for (const name of ["x-hop", "proxy-authorization", "proxy-connection", "upgrade"]) {
    expect(host.seen[0]?.headers).not.toHaveProperty(name);
  }
});

test("checks each request of a connection", async () => {
  const host = await startUpstream((request, response) => response.end(`seen ${request.url}`));
  const port = portOf(host.url);
  const egress = await startTestEgress([allowHost("registry.test", port)]);
  const answer = await sendBytes(
    egress,
    `GET http://registry.test:${port}/1 HTTP/1.1\r\nhost: x\r\n\r\n` +
      `GET http://neighbour.test:${port}/2 HTTP/1.1\r\nhost: registry.test\r\n\r\n` +
      `GET http://registry.test:${port}/3 HTTP/1.1\r\nhost: x\r\n${close}`,
  );
  expect(answer).toContain("seen /1");
  expect(answer).toContain("docker.egress: [neighbour.test:");
  expect(host.seen.map((request) => request.url)).not.toContain("/2");
});

/** The raw request that a host receives through the proxy. */
async function rawRequest(headers: string[], body: string, method = "POST"): Promise<string> {
  let text = "";
  const host = await startRawHost((socket) => {
    socket.setEncoding("latin1").on("data", (part) => {
      text += part;
      if (text.includes("END")) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
  });
  const egress = await startTestEgress([allowHost("registry.test", host.port)]);
  const line = `${method} http://registry.test:${host.port}/ HTTP/1.1`;
  const head = [line, "host: x", "connection: close", ...headers];
  const answer = await sendBytes(egress, `${head.join("\r\n")}\r\n\r\n${body}`);
  return text || answer;
}

const smuggledRequest = "GET /END HTTP/1.1\r\nhost: neighbour.test\r\n\r\n";

test.each([
  ["two lengths", ["content-length: 5", "content-length: 50"]],
  ["a length and chunks", ["content-length: 5", "transfer-encoding: chunked"]],
  ["an unknown transfer coding", ["transfer-encoding: xchunked"]],
  ["a repeated chunked coding", ["transfer-encoding: chunked, chunked"]],
  ["an invalid length", ["content-length: +5"]],
  ["a space before the colon", ["content-length : 5"]],
  ["a folded line", ["transfer-encoding:", " chunked"]],
])("forwards no request with %s", async (_, headers) => {
  const answer = await rawRequest(headers, `0\r\n\r\n${smuggledRequest}`);
  expect(answer).not.toContain("POST / HTTP");
  expect(answer).toMatch(/^HTTP\/1\.1 (400|403) /);
});

test.each<[string, string[], string]>([
  [
    "GET",
    ["transfer-encoding: chunked"],
    `${smuggledRequest.length.toString(16)}\r\n${smuggledRequest}\r\n0\r\n\r\n`,
  ],
  [
    "DELETE",
    [`content-length: ${smuggledRequest.length}`, "connection: content-length"],
    smuggledRequest,
  ],
  ["OPTIONS", [`content-length: ${smuggledRequest.length}`], smuggledRequest],
])("forwards the body of a %s as a body", async (method, headers, body) => {
  const text = await rawRequest(headers, body, method);
  const [head = "", rest = ""] = text.split(/\r\n\r\n([\s\S]*)/);
  expect(head).toMatch(/content-length: \d+|transfer-encoding: chunked/i);
  if (/chunked/i.test(head))
    expect(rest).toMatch(new RegExp(`^${smuggledRequest.length.toString(16)}\r\n`));
});

test("refuses a name that resolves to a private address without connecting", async () => {
  let connections = 0;
  const host = await startRawHost((socket) => {
    connections += 1;
    socket.end();
  });
  const egress = await startTestEgress([`public.test:${host.port}`], {
    resolve: async () => ["127.0.0.1"],
  });
  const answer = await sendBytes(
    egress,
    `CONNECT public.test:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  expect(answer).toContain(
    `docker.egress: [{host: "public.test:${host.port}", address: "127.0.0.1"}]`,
  );
  expect(connections).toBe(0);
});

test("uses the system resolver once and keeps localhost closed", async () => {
  const egress = await startTestEgress(["localhost"]);
  expect(await sendBytes(egress, "CONNECT localhost:443 HTTP/1.1\r\nhost: x\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 403 [\s\S]*loopback/,
  );
});

test("answers 502 with the reason when a host cannot be reached", async () => {
  const gone = await startUpstream((_, response) => response.end());
  await new Promise((resolve) => gone.server.close(resolve));
  const port = portOf(gone.url);
  const egress = await startTestEgress([allowHost("registry.test", port), "nowhere.test"], {
    resolve: async () => {
      throw Object.assign(new Error("no"), { code: "ENOTFOUND" });
    },
  });
  const ask = (target: string) =>
    sendBytes(egress, `CONNECT ${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
  expect(await ask(`registry.test:${port}`)).toMatch(/^HTTP\/1\.1 502 [\s\S]*ECONNREFUSED/);
  expect(await ask("nowhere.test:443")).toMatch(/^HTTP\/1\.1 502 [\s\S]*ENOTFOUND/);
  expect(
    await sendBytes(egress, `GET http://registry.test:${port}/ HTTP/1.1\r\nhost: x\r\n${close}`),
  ).toMatch(/^HTTP\/1\.1 502 [\s\S]*ECONNREFUSED/);
  expect(egress.refusedHosts()).toEqual([]);
});

test("lets one side end while the other continues", async () => {
  const host = await startRawHost(async (socket) => {
    const response = await readAll(socket);
    await sleep(50);
    socket.end(`you said ${response}`);
  });
  const egress = await startTestEgress([allowAnyProtocol("registry.test", host.port)]);
  const socket = connectToEgress(egress);
  socket.end(`CONNECT registry.test:${host.port} HTTP/1.1\r\nhost: x\r\n\r\nhello`);
  expect(await readAll(socket)).toMatch(/\r\n\r\nyou said hello$/);
});

test("forwards a host that speaks first", async () => {
  const host = await startRawHost((socket) => socket.write("220 welcome"));
  const egress = await startTestEgress([allowAnyProtocol("registry.test", host.port)]);
  const socket = connectToEgress(egress);
  socket.write(`CONNECT registry.test:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`);
  let received = "";
  socket.on("data", (part) => {
    received += part;
  });
  await waitUntil(() => received.includes("220 welcome"));
  socket.destroy();
});

test("forwards large data both ways unchanged, counts it by host and applies backpressure", async () => {
  const megabytes = 24;
  const chunk = randomBytes(1024 * 1024);
  let sent = 0;
  const upHash = createHash("sha256");
  const received = Promise.withResolvers<void>();
  const host = await startRawHost(async (socket) => {
    socket.on("data", (part) => upHash.update(part));
    socket.on("end", received.resolve);
    for (; sent < megabytes; sent += 1) if (!socket.write(chunk)) await once(socket, "drain");
    socket.end();
  });
  const egress = await startTestEgress([allowAnyProtocol("registry.test", host.port)]);
  const socket = connectToEgress(egress);
  socket.write(`CONNECT registry.test:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`);
  const [head] = await once(socket, "data");
  socket.pause();
  await sleep(300);
  expect(sent).toBeLessThan(megabytes);
  const up = Buffer.concat([Buffer.from("x"), randomBytes(4 * 1024 * 1024)]);
  socket.end(up);
  let down = head.length - head.indexOf("\r\n\r\n") - 4;
  socket.on("data", (part) => {
    down += part.length;
  });
  socket.resume();
  await once(socket, "end");
  expect(down).toBe(megabytes * chunk.length);
  await received.promise;
  await waitUntil(() => egress.meter().open === 0);
  expect(upHash.digest("hex")).toBe(createHash("sha256").update(up).digest("hex"));
  expect(egress.meter().byHost).toEqual({
    [`registry.test:${host.port}`]: { connections: 1, bytesUp: up.length, bytesDown: down },
  });
}, 30_000);

test("counts bytes while a connection is open", async () => {
  const host = await startRawHost((socket) => socket.write("12345"));
  const egress = await startTestEgress([allowAnyProtocol("registry.test", host.port)]);
  const socket = connectToEgress(egress);
  socket.write(`CONNECT registry.test:${host.port} HTTP/1.1\r\nhost: x\r\n\r\nabc`);
  await waitUntil(
    () =>
      egress.meter().byHost[`registry.test:${host.port}`]?.bytesDown === 5 &&
      egress.meter().byHost[`registry.test:${host.port}`]?.bytesUp === 3,
  );
  expect(egress.meter().open).toBe(1);
  socket.destroy();
});

test("closes the connection to the host when the client leaves, and vice versa", async () => {
  let closed = 0;
  let hang = true;
  const host = await startRawHost((socket) => {
    socket.resume().once("close", () => {
      closed += 1;
    });
    socket.once("end", () => socket.end());
    if (!hang) socket.destroy();
  });
  const egress = await startTestEgress([allowAnyProtocol("registry.test", host.port)]);
  const open = async () => {
    const socket = connectToEgress(egress);
    socket.write(`CONNECT registry.test:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(socket, "data");
    return socket;
  };
  (await open()).destroy();
  await waitUntil(() => closed === 1 && egress.meter().open === 0);
  hang = false;
  const left = await open();
  await waitUntil(() => left.readableEnded || left.destroyed);
  left.destroy();
  await waitUntil(() => egress.meter().open === 0);
});

test("serves every client of its socket and closes all connections on stop", async () => {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-egress-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const socketPath = join(folder, "egress.sock");
  const hostSockets: boolean[] = [];
  const host = await startRawHost((socket) => {
    socket.resume().once("close", () => hostSockets.push(true));
    socket.once("end", () => socket.end());
  });
  const egress = await startTestEgress([allowAnyProtocol("registry.test", host.port)], {
    socketPath,
    socketMode: 0o666,
  });
  expect([egress.url, egress.socketPath]).toEqual([undefined, socketPath]);
  expect(statSync(socketPath).mode & 0o777).toBe(0o666);
  const sockets = [0, 1].map(() => connect({ path: socketPath, allowHalfOpen: true }));
  for (const socket of sockets) socket.on("error", () => undefined);
  sockets[0]?.write(`CONNECT registry.test:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await waitUntil(() => egress.meter().open === 1);
  await Promise.all([egress.stop(), egress.stop()]);
  await waitUntil(() => hostSockets.length === 1 && egress.meter().open === 0);
  expect(existsSync(socketPath)).toBe(false);
  for (const socket of sockets) socket.destroy();
});

test("does not wait for a silent host on stop", async () => {
  // An address that never answers a packet.
  const egress = await startTestEgress([{ host: "silent.test", address: "203.0.113.1" }]);
  const socket = connectToEgress(egress);
  socket.write("CONNECT silent.test:443 HTTP/1.1\r\nhost: x\r\n\r\n");
  await sleep(50);
  await egress.stop();
  socket.destroy();
});

test("limits headers and connections", async () => {
  const egress = await startTestEgress(["npm"]);
  const long = `GET http://registry.npmjs.org/ HTTP/1.1\r\nx: ${"x".repeat(100_000)}\r\n`;
  expect(await sendBytes(egress, long)).toMatch(/^HTTP\/1\.1 431 /);
  const sockets = Array.from({ length: 300 }, () => connectToEgress(egress));
  await waitUntil(
    () => sockets.filter((socket) => socket.readableEnded || socket.destroyed).length >= 1,
  );
  for (const socket of sockets) socket.destroy();
});

test("limits the memory for names", async () => {
  const egress = await startTestEgress(["npm"]);
  const asks = Array.from({ length: 150 }, (_, index) =>
    sendBytes(egress, `CONNECT n${index}.test:443 HTTP/1.1\r\nhost: x\r\n\r\n`),
  );
  await Promise.all(asks);
  expect(egress.refusedHosts()).toHaveLength(100);
  expect(egress.meter().refused).toBe(150);
});

test("keeps thirty concurrent connections separate and reports no error", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const host = await startRawHost(async (socket) => {
    socket.end(`you said ${await readAll(socket)}`);
  });
  const egress = await startTestEgress([allowAnyProtocol("registry.test", host.port)]);
  const answers = Array.from({ length: 30 }, async (_, index) => {
    const socket = connectToEgress(egress);
    socket.write(`CONNECT registry.test:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await sleep(100);
    socket.end(`number ${index}`);
    return readAll(socket);
  });
  const texts = await Promise.all(answers);
  for (const [index, text] of texts.entries()) expect(text).toMatch(`you said number ${index}`);
  await sleep(20);
  expect(warnings).toEqual([]);
});
