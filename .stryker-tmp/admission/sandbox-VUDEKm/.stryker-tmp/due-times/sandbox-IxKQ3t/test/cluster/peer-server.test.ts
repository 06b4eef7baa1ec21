import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import {
  type Peer,
  PeerServer,
  type PeerStatus,
  peerListenHost,
  requestPeerStatus,
} from "../../packages/core/src/cluster/peer-server.ts";
import { startSilentServer } from "../support/unresponsive-server.ts";

const asker: Peer = { id: "two", address: "127.0.0.1:8" };
const peerStatus: PeerStatus = { node: "one", reaches: true, lives: true };

it("reports to a peer whether the node reaches the store and is alive", async () => {
  const address = await startPeerServer(peerStatus);
  expect(await requestPeerStatus({ id: "one", address }, "secret", asker)).toEqual(peerStatus);
});

it("reports the asking peer to the node", async () => {
  const askingPeers: Peer[] = [];
  const address = await startPeerServer(peerStatus, askingPeers);
  await requestPeerStatus({ id: "one", address }, "secret", { id: "Nöde \n 2", address: null });
  await requestPeerStatus({ id: "one", address }, "another", asker);
  expect(askingPeers).toEqual([{ id: "Nöde \n 2", address: null }]);
});

it("refuses a peer without the shared secret and ignores its answers", async () => {
  const address = await startPeerServer(peerStatus);
  expect(await requestPeerStatus({ id: "one", address }, "another", asker)).toBeUndefined();
  const answer = await fetch(`http://${address}/store`);
  expect(answer.status).toBe(403);
  expect(await answer.text()).toBe("");
});

it("refuses a request without a valid signature", async () => {
  const address = await startPeerServer(peerStatus);
  const who = encodeURIComponent(JSON.stringify(asker));
  const time = String(Date.now());
  const headers = { nonce: "0".repeat(32), time, asker: who, seal: "f".repeat(64) };
  expect((await fetch(`http://${address}/store`, { headers })).status).toBe(403);
});

it.each(["%", "{", JSON.stringify({ id: 7 })])(
  "refuses an unreadable signed request and answers the next: %s",
  async (who) => {
    const address = await startPeerServer(peerStatus);
    const headers = askHeaders({ who });
    expect((await fetch(`http://${address}/store`, { headers })).status).toBe(403);
    expect(await requestPeerStatus({ id: "one", address }, "secret", asker)).toEqual(peerStatus);
  },
);

/** The headers of a request as a node of the fleet signs it. */
function askHeaders({
  who = encodeURIComponent(JSON.stringify(asker)),
  to = "one",
  at = Date.now(),
}) {
  const [nonce, time] = [randomBytes(16).toString("hex"), String(at)];
  const text = `ask ${to} ${time} ${nonce} ${who}`;
  const seal = createHmac("sha256", "secret").update(text).digest("hex");
  return { nonce, time, asker: who, seal };
}

const statusOf = async (address: string, headers: Record<string, string>) =>
  (await fetch(`http://${address}/store`, { headers })).status;

it("refuses a replayed request", async () => {
  const askingPeers: Peer[] = [];
  const address = await startPeerServer(peerStatus, askingPeers);
  const recorded = askHeaders({});
  expect(await statusOf(address, recorded)).toBe(200);
  expect(await statusOf(address, recorded)).toBe(403);
  expect(await statusOf(address, { ...recorded, nonce: "1".repeat(32) })).toBe(403);
  expect(askingPeers).toHaveLength(1);
});

it.each([-120_000, -61_000, 61_000, 120_000])(
  "refuses a request whose time is %i ms off",
  async (offset) => {
    const address = await startPeerServer(peerStatus);
    expect(await statusOf(address, askHeaders({ at: Date.now() + offset }))).toBe(403);
    expect(await statusOf(address, askHeaders({ at: Date.now() + offset / 4 }))).toBe(200);
  },
);

it("refuses a request without a signed time or for another node", async () => {
  const address = await startPeerServer(peerStatus);
  const { time, ...timeless } = askHeaders({});
  expect(await statusOf(address, timeless)).toBe(403);
  expect(await statusOf(address, { ...timeless, time: String(Number(time) + 1) })).toBe(403);
  expect(await statusOf(address, askHeaders({ to: "two" }))).toBe(403);
});

it("closes slow, large and excess connections of strangers and still answers a node", async () => {
  const address = await startPeerServer(peerStatus);
  const [host, port] = address.split(":");
  const open = (text: string) => {
    const socket = connect(Number(port), host).on("error", () => undefined);
    socket.write(text);
    onTestFinished(() => void socket.destroy());
    return socket.resume();
  };
  const large = open(`GET /store HTTP/1.1\r\nx: ${"x".repeat(8_000)}\r\n\r\n`);
  const slow = Array.from({ length: 100 }, () => open("GET /store HTTP/1.1\r\n"));
  await vi.waitFor(() => {
    expect(large.destroyed).toBe(true);
    expect(slow.filter((one) => one.destroyed).length).toBeGreaterThanOrEqual(36);
  });
  await vi.waitFor(() => expect(slow.every((one) => one.destroyed)).toBe(true), 5_000);
  expect(await requestPeerStatus({ id: "one", address }, "secret", asker)).toEqual(peerStatus);
});

it("ignores an answer without a valid signature", async () => {
  const impostor = createServer((_, response) =>
    response.writeHead(200, { seal: "f".repeat(64) }).end(JSON.stringify(peerStatus)),
  );
  await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void impostor.close());
  const { port } = impostor.address() as AddressInfo;
  expect(
    await requestPeerStatus({ id: "one", address: `127.0.0.1:${port}` }, "secret", asker),
  ).toBeUndefined();
});

it("ignores the answer of another node at the same address", async () => {
  const address = await startPeerServer({ ...peerStatus, node: "another" });
  expect(await requestPeerStatus({ id: "one", address }, "secret", asker)).toBeUndefined();
});

it("treats an unreachable or unresponsive node as silent", async () => {
  expect(await requestPeerStatus({ id: "one", address: null }, "secret", asker)).toBeUndefined();
  expect(
    await requestPeerStatus({ id: "one", address: "127.0.0.1:9" }, "secret", asker),
  ).toBeUndefined();
  const { url } = await startSilentServer();
  const { host } = new URL(url);
  expect(await requestPeerStatus({ id: "one", address: host }, "secret", asker)).toBeUndefined();
});

it("answers no request before the node has joined", async () => {
  const address = await startPeerServer(peerStatus, [], undefined);
  expect(await requestPeerStatus({ id: "one", address }, "secret", asker)).toBeUndefined();
});

it("listens on the host that reaches the store, or the configured one", async () => {
  const { url } = await startSilentServer();
  const store = (host: string) => `postgres://u@${host}/db`;
  expect(await peerListenHost("127.0.0.1", store(new URL(url).host))).toBe("127.0.0.1");
  expect(await peerListenHost("10.9.8.7", store(new URL(url).host))).toBe("10.9.8.7");
  expect(await peerListenHost("127.0.0.1", store("127.0.0.1:9"))).toBe("127.0.0.1");
  expect(await peerListenHost("127.0.0.1", "postgres://u@/db?host=/run/postgresql")).toBe(
    "127.0.0.1",
  );
});

async function startPeerServer(
  status: PeerStatus,
  askingPeers: Peer[] = [],
  ...given: [secret?: string | undefined]
): Promise<string> {
  const opened = new PeerServer((from) => {
    askingPeers.push(from);
    return status;
  });
  onTestFinished(() => opened.close());
  const address = await opened.listen("127.0.0.1");
  const secret = given.length === 0 ? "secret" : given[0];
  if (secret !== undefined) opened.setCredentials(secret, status.node);
  return address;
}
