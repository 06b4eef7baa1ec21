import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { expect, test } from "vitest";
import { readServerName } from "../../packages/core/src/gateway/egress/client-hello.ts";
import { clientHello, withExtension } from "./client-hello.ts";
import { allOf, egressTo, named, rawHost, send, socketTo, tlsHost, unchecked } from "./hosts.ts";
import { eventually, standIn } from "./upstream.ts";

const connectTo = (host: string, port: number) =>
  `CONNECT ${host}:${port} HTTP/1.1\r\nhost: x\r\n\r\n`;

/** A host that keeps what it is sent. */
async function listeningHost() {
  const seen: Buffer[] = [];
  const host = await rawHost((socket) => void socket.on("data", (part) => seen.push(part)));
  return { ...host, seen: () => Buffer.concat(seen) };
}

test("plain HTTP in a tunnel does not reach a neighbour of an open host", async () => {
  const cdn = await standIn((request, response) => response.end(`tenant ${request.headers.host}`));
  const port = Number(new URL(cdn.url).port);
  const egress = await egressTo([named("deb.allowed.test", port)]);
  const smuggled = "POST / HTTP/1.1\r\nhost: attacker.cdn.test\r\ncontent-length: 6\r\n\r\nSECRET";
  const answer = await send(egress, connectTo("deb.allowed.test", port) + smuggled);
  expect(answer).not.toContain("tenant");
  expect(cdn.seen).toEqual([]);
  expect(egress.refused()).toMatchObject([
    {
      ...{ host: "deb.allowed.test", port, count: 1 },
      reason: "a tunnel carries TLS only; plain HTTP goes through the proxy directly",
    },
  ]);
});

test("plain HTTP through the proxy reaches the open host under its own name", async () => {
  const host = await standIn((request, response) => response.end(`for ${request.headers.host}`));
  const port = Number(new URL(host.url).port);
  const egress = await egressTo([named("deb.allowed.test", port)]);
  const get = `GET http://deb.allowed.test:${port}/ HTTP/1.1\r\nhost: attacker.cdn.test\r\nconnection: close\r\n\r\n`;
  expect(await send(egress, get)).toContain(`for deb.allowed.test:${port}`);
});

test.each([
  ["SSH", "SSH-2.0-OpenSSH_9.2\r\n"],
  ["HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["an old SSL hello", "\x80\x2e\x01\x03\x01"],
  ["a TLS alert", "\x15\x03\x01\x00\x02\x02\x28"],
  ["TLS data without a handshake", "\x17\x03\x03\x00\x04abcd"],
  ["one byte", "x"],
])(
  "a tunnel with %s is cut before the host sees a byte, and the record names the line",
  async (_, bytes) => {
    const host = await listeningHost();
    const egress = await egressTo([named("git.test", host.port)]);
    const answer = await send(egress, connectTo("git.test", host.port) + bytes);
    expect(answer).toBe("HTTP/1.1 200 Connection established\r\n\r\n");
    expect(host.seen()).toHaveLength(0);
    const remedy = `docker.egress: [{host: "git.test:${host.port}", address: "127.0.0.1", protocol: tcp}]`;
    expect(egress.refused()).toMatchObject([{ host: "git.test", port: host.port, remedy }]);
  },
);

test("a rule with `protocol: tcp` lets any protocol pass", async () => {
  const host = await listeningHost();
  const egress = await egressTo([unchecked("git.test", host.port)]);
  const socket = socketTo(egress);
  socket.write(`${connectTo("git.test", host.port)}SSH-2.0-x`);
  await eventually(() => host.seen().toString() === "SSH-2.0-x");
  socket.destroy();
  expect(egress.refused()).toEqual([]);
});

test("a host that speaks first is not heard before the client has begun TLS", async () => {
  const host = await rawHost((socket) => socket.write("220 welcome"));
  const egress = await egressTo([named("mail.test", host.port)]);
  const socket = socketTo(egress);
  socket.write(connectTo("mail.test", host.port));
  let heard = "";
  socket.on("data", (part) => {
    heard += part;
  });
  await eventually(() => egress.meter().open === 1);
  await sleep(100);
  expect(heard).not.toContain("welcome");
  socket.destroy();
});

test("a tunnel in which no TLS is begun in time is cut", async () => {
  const host = await listeningHost();
  const egress = await egressTo([named("git.test", host.port)], { helloTimeoutMs: 100 });
  const [first, ...rest] = await clientHello("git.test");
  const asked = Buffer.concat([
    Buffer.from(connectTo("git.test", host.port)),
    Buffer.from([first ?? 0]),
  ]);
  expect(rest.length).toBeGreaterThan(100);
  await send(egress, asked.toString("latin1"));
  expect(host.seen()).toHaveLength(0);
  expect(egress.refused()).toMatchObject([{ reason: "TLS was not begun in the tunnel" }]);
});

/** TLS through a tunnel to one name, begun for another. */
async function speakTls(tunnelTo: string, servername: string) {
  const host = await tlsHost((_, response) => response.end("over TLS"));
  const egress = await egressTo([named(tunnelTo, host.port)]);
  const socket = socketTo(egress);
  socket.write(`CONNECT ${tunnelTo}:${host.port} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await once(socket, "data");
  const tls = connectTls({ socket, servername, rejectUnauthorized: false });
  tls.on("error", () => undefined);
  tls.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const answer = await allOf(tls);
  socket.destroy();
  return { answer, egress, host };
}

test("TLS with the host of the tunnel passes untouched", async () => {
  const { answer, egress } = await speakTls("registry.test", "registry.test");
  expect(answer).toContain("over TLS");
  expect(egress.refused()).toEqual([]);
});

test.each([
  ["other.test", "TLS was begun for other.test"],
  ["", "TLS was begun for a host without a name"],
])("TLS that is begun for %j is cut before the host hears of it", async (name, reason) => {
  const { answer, egress, host } = await speakTls("registry.test", name);
  expect(answer).toBe("");
  expect(host.seen).toHaveLength(0);
  expect(egress.refused()).toMatchObject([{ host: "registry.test", reason }]);
});

test("a first message that arrives byte by byte is put together", async () => {
  const host = await listeningHost();
  const egress = await egressTo([named("registry.test", host.port)]);
  const hello = await clientHello("registry.test");
  const socket = socketTo(egress);
  socket.setNoDelay(true);
  socket.write(connectTo("registry.test", host.port));
  for (const byte of hello.subarray(0, 300)) {
    socket.write(Buffer.from([byte]));
    await new Promise((done) => setImmediate(done));
  }
  socket.write(hello.subarray(300));
  await eventually(() => host.seen().equals(hello));
  socket.destroy();
});

test.each([
  ["of RFC 9849", 0xfe0d],
  ["of draft 10", 0xfe0a],
  ["of draft 7", 0xff02],
  ["with an encrypted server name", 0xffce],
])("an encrypted ClientHello %s is refused, also one with random bytes", async (_, type) => {
  const seen: Buffer[] = [];
  const host = await rawHost((socket) => {
    socket.on("data", (part) => void (seen.push(part) && socket.end()));
  });
  const egress = await egressTo([named("registry.test", host.port)]);
  const hello = withExtension(await clientHello("registry.test"), type, Buffer.alloc(186, 7));
  const asked = Buffer.concat([Buffer.from(connectTo("registry.test", host.port)), hello]);
  await send(egress, asked.toString("latin1"));
  expect(seen).toEqual([]);
  expect(egress.refused()).toMatchObject([
    { reason: "TLS was begun with an encrypted ClientHello, which hides the host" },
  ]);
});

test("a ClientHello that names two hosts has none", async () => {
  const name = Buffer.from("other.test");
  const list = Buffer.concat([Buffer.from([0, name.length + 3, 0, 0, name.length]), name]);
  const hello = await clientHello("registry.test");
  expect(readServerName(hello)).toEqual({ kind: "named", name: "registry.test" });
  expect(readServerName(withExtension(hello, 0, list))).toEqual({ kind: "unnamed" });
  expect(readServerName(withExtension(hello, 0x1234, list))).toMatchObject({ kind: "named" });
});
