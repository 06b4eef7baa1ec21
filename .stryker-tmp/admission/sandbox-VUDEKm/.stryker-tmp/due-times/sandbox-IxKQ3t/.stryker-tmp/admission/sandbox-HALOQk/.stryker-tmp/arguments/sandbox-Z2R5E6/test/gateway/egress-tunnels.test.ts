import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { expect, test } from "vitest";
import { readServerName } from "../../packages/core/src/runner/gateway/egress/client-hello.ts";
import {
  allowAnyProtocol,
  allowHost,
  connectToEgress,
  readAll,
  sendBytes,
  startRawHost,
  startTestEgress,
  startTlsHost,
} from "./egress-hosts.ts";
import { addExtension, captureClientHello } from "./tls-client-hello.ts";
import { startUpstream, waitUntil } from "./upstream-stand-in.ts";

const connectRequest = (host: string, port: number) =>
  `CONNECT ${host}:${port} HTTP/1.1\r\nhost: x\r\n\r\n`;

/** A host that records what it receives. */
async function startListeningHost() {
  const seen: Buffer[] = [];
  const host = await startRawHost((socket) => void socket.on("data", (part) => seen.push(part)));
  return { ...host, seen: () => Buffer.concat(seen) };
}

test("refuses plain HTTP in a tunnel to a neighbour of an open host", async () => {
  const cdn = await startUpstream((request, response) =>
    response.end(`tenant ${request.headers.host}`),
  );
  const port = Number(new URL(cdn.url).port);
  const egress = await startTestEgress([allowHost("deb.allowed.test", port)]);
  const smuggled = "POST / HTTP/1.1\r\nhost: attacker.cdn.test\r\ncontent-length: 6\r\n\r\nSECRET";
  const answer = await sendBytes(egress, connectRequest("deb.allowed.test", port) + smuggled);
  expect(answer).not.toContain("tenant");
  expect(cdn.seen).toEqual([]);
  expect(egress.refusedHosts()).toMatchObject([
    {
      ...{ host: "deb.allowed.test", port, count: 1 },
      reason: "tunnels only carry TLS; send plain HTTP to the proxy directly",
    },
  ]);
});

test("forwards plain HTTP through the proxy to the open host under its own name", async () => {
  const host = await startUpstream((request, response) =>
    response.end(`for ${request.headers.host}`),
  );
  const port = Number(new URL(host.url).port);
  const egress = await startTestEgress([allowHost("deb.allowed.test", port)]);
  const get = `GET http://deb.allowed.test:${port}/ HTTP/1.1\r\nhost: attacker.cdn.test\r\nconnection: close\r\n\r\n`;
  expect(await sendBytes(egress, get)).toContain(`for deb.allowed.test:${port}`);
});

test.each([
  ["SSH", "SSH-2.0-OpenSSH_9.2\r\n"],
  ["HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["an old SSL hello", "\x80\x2e\x01\x03\x01"],
  ["a TLS alert", "\x15\x03\x01\x00\x02\x02\x28"],
  ["TLS data without a handshake", "\x17\x03\x03\x00\x04abcd"],
  ["a single byte", "x"],
])(
  "closes a tunnel with %s before the host receives a byte, and records the rule that would allow it",
  async (_, bytes) => {
    const host = await startListeningHost();
    const egress = await startTestEgress([allowHost("git.test", host.port)]);
    const answer = await sendBytes(egress, connectRequest("git.test", host.port) + bytes);
    expect(answer).toBe("HTTP/1.1 200 Connection established\r\n\r\n");
    expect(host.seen()).toHaveLength(0);
    const remedy = `docker.egress: [{host: "git.test:${host.port}", address: "127.0.0.1", protocol: tcp}]`;
    expect(egress.refusedHosts()).toMatchObject([{ host: "git.test", port: host.port, remedy }]);
  },
);

test("allows any protocol with `protocol: tcp`", async () => {
  const host = await startListeningHost();
  const egress = await startTestEgress([allowAnyProtocol("git.test", host.port)]);
  const socket = connectToEgress(egress);
  socket.write(`${connectRequest("git.test", host.port)}SSH-2.0-x`);
  await waitUntil(() => host.seen().toString() === "SSH-2.0-x");
  socket.destroy();
  expect(egress.refusedHosts()).toEqual([]);
});

test("forwards nothing of a host that speaks first until the client has started TLS", async () => {
  const host = await startRawHost((socket) => socket.write("220 welcome"));
  const egress = await startTestEgress([allowHost("mail.test", host.port)]);
  const socket = connectToEgress(egress);
  socket.write(connectRequest("mail.test", host.port));
  let received = "";
  socket.on("data", (part) => {
    received += part;
  });
  await waitUntil(() => egress.meter().open === 1);
  await sleep(100);
  expect(received).not.toContain("welcome");
  socket.destroy();
});

test("closes a tunnel without a TLS handshake in time", async () => {
  const host = await startListeningHost();
  const egress = await startTestEgress([allowHost("git.test", host.port)], { helloTimeoutMs: 100 });
  const [first, ...rest] = await captureClientHello("git.test");
  const asked = Buffer.concat([
    Buffer.from(connectRequest("git.test", host.port)),
    Buffer.from([first ?? 0]),
  ]);
  expect(rest.length).toBeGreaterThan(100);
  await sendBytes(egress, asked.toString("latin1"));
  expect(host.seen()).toHaveLength(0);
  expect(egress.refusedHosts()).toMatchObject([{ reason: "TLS was not started in the tunnel" }]);
});

/** Opens a tunnel to one name and starts TLS for another. */
async function sendTlsHello(tunnelTo: string, servername: string) {
  const host = await startTlsHost((_, response) => response.end("over TLS"));
  const egress = await startTestEgress([allowHost(tunnelTo, host.port)]);
  const socket = connectToEgress(egress);
  socket.write(`CONNECT ${tunnelTo}:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await once(socket, "data");
  const tls = connectTls({ socket, servername, rejectUnauthorized: false });
  tls.on("error", () => undefined);
  tls.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const answer = await readAll(tls);
  socket.destroy();
  return { answer, egress, host };
}

test("forwards TLS with the host of the tunnel unchanged", async () => {
  const { answer, egress } = await sendTlsHello("registry.test", "registry.test");
  expect(answer).toContain("over TLS");
  expect(egress.refusedHosts()).toEqual([]);
});

test.each([
  ["other.test", "TLS was started for other.test"],
  ["", "TLS was started without a host name"],
])("closes a tunnel with TLS for %j before the host receives a byte", async (name, reason) => {
  const { answer, egress, host } = await sendTlsHello("registry.test", name);
  expect(answer).toBe("");
  expect(host.seen).toHaveLength(0);
  expect(egress.refusedHosts()).toMatchObject([{ host: "registry.test", reason }]);
});

test("assembles a ClientHello that arrives byte by byte", async () => {
  const host = await startListeningHost();
  const egress = await startTestEgress([allowHost("registry.test", host.port)]);
  const hello = await captureClientHello("registry.test");
  const socket = connectToEgress(egress);
  socket.setNoDelay(true);
  socket.write(connectRequest("registry.test", host.port));
  for (const byte of hello.subarray(0, 300)) {
    socket.write(Buffer.from([byte]));
    await new Promise((done) => setImmediate(done));
  }
  socket.write(hello.subarray(300));
  await waitUntil(() => host.seen().equals(hello));
  socket.destroy();
});

test.each([
  ["of RFC 9849", 0xfe0d],
  ["of draft 10", 0xfe0a],
  ["of draft 7", 0xff02],
  ["with an encrypted server name", 0xffce],
])("refuses an encrypted ClientHello %s, also one with random bytes", async (_, type) => {
  const seen: Buffer[] = [];
  const host = await startRawHost((socket) => {
    socket.on("data", (part) => void (seen.push(part) && socket.end()));
  });
  const egress = await startTestEgress([allowHost("registry.test", host.port)]);
  const hello = addExtension(await captureClientHello("registry.test"), type, Buffer.alloc(186, 7));
  const asked = Buffer.concat([Buffer.from(connectRequest("registry.test", host.port)), hello]);
  await sendBytes(egress, asked.toString("latin1"));
  expect(seen).toEqual([]);
  expect(egress.refusedHosts()).toMatchObject([
    { reason: "TLS was started with an encrypted ClientHello, which hides the host" },
  ]);
});

test("treats a ClientHello with two host names as unnamed", async () => {
  const name = Buffer.from("other.test");
  const list = Buffer.concat([Buffer.from([0, name.length + 3, 0, 0, name.length]), name]);
  const hello = await captureClientHello("registry.test");
  expect(readServerName(hello)).toEqual({ kind: "named", name: "registry.test" });
  expect(readServerName(addExtension(hello, 0, list))).toEqual({ kind: "unnamed" });
  expect(readServerName(addExtension(hello, 0x1234, list))).toMatchObject({ kind: "named" });
});
