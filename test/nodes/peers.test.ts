import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { doorHost } from "../../packages/core/src/fleet/nodes/door-host.ts";
import {
  askPeer,
  type NodeWord,
  type Peer,
  PeerDoor,
} from "../../packages/core/src/fleet/nodes/peers.ts";
import { silentServer } from "../support/silent-server.ts";

const asker: Peer = { id: "two", address: "127.0.0.1:8" };
const word: NodeWord = { node: "one", reaches: true, lives: true };

it("a peer is told whether a node reaches the store, and that it lives", async () => {
  const address = await door(word);
  expect(await askPeer({ id: "one", address }, "secret", asker)).toEqual(word);
});

it("a node that is asked hears who asked", async () => {
  const heard: Peer[] = [];
  const address = await door(word, heard);
  await askPeer({ id: "one", address }, "secret", { id: "Nöde \n 2", address: null });
  await askPeer({ id: "one", address }, "another", asker);
  expect(heard).toEqual([{ id: "Nöde \n 2", address: null }]);
});

it("who does not know the secret is told nothing, and is not believed", async () => {
  const address = await door(word);
  expect(await askPeer({ id: "one", address }, "another", asker)).toBeUndefined();
  const answer = await fetch(`http://${address}/store`);
  expect(answer.status).toBe(403);
  expect(await answer.text()).toBe("");
});

it("a question that nobody of the fleet has signed is refused", async () => {
  const address = await door(word);
  const who = encodeURIComponent(JSON.stringify(asker));
  const time = String(Date.now());
  const headers = { nonce: "0".repeat(32), time, asker: who, seal: "f".repeat(64) };
  expect((await fetch(`http://${address}/store`, { headers })).status).toBe(403);
});

it.each(["%", "{", JSON.stringify({ id: 7 })])(
  "a question of the fleet that cannot be read is refused, and the next is answered: %s",
  async (who) => {
    const address = await door(word);
    const headers = question({ who });
    expect((await fetch(`http://${address}/store`, { headers })).status).toBe(403);
    expect(await askPeer({ id: "one", address }, "secret", asker)).toEqual(word);
  },
);

/** A question as a node of the fleet signs it. */
function question({
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

it("a recorded question is refused when it is sent again", async () => {
  const heard: Peer[] = [];
  const address = await door(word, heard);
  const recorded = question({});
  expect(await statusOf(address, recorded)).toBe(200);
  expect(await statusOf(address, recorded)).toBe(403);
  expect(await statusOf(address, { ...recorded, nonce: "1".repeat(32) })).toBe(403);
  expect(heard).toHaveLength(1);
});

it.each([-120_000, -61_000, 61_000, 120_000])(
  "a question whose time is %i ms off is refused",
  async (offset) => {
    const address = await door(word);
    expect(await statusOf(address, question({ at: Date.now() + offset }))).toBe(403);
    expect(await statusOf(address, question({ at: Date.now() + offset / 4 }))).toBe(200);
  },
);

it("a question without a signed time, or for another node, is refused", async () => {
  const address = await door(word);
  const { time, ...timeless } = question({});
  expect(await statusOf(address, timeless)).toBe(403);
  expect(await statusOf(address, { ...timeless, time: String(Number(time) + 1) })).toBe(403);
  expect(await statusOf(address, question({ to: "two" }))).toBe(403);
});

it("slow, large and many connections of strangers are closed, and a node is answered", async () => {
  const address = await door(word);
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
  expect(await askPeer({ id: "one", address }, "secret", asker)).toEqual(word);
});

it("an answer that nobody of the fleet has signed is not believed", async () => {
  const impostor = createServer((_, response) =>
    response.writeHead(200, { seal: "f".repeat(64) }).end(JSON.stringify(word)),
  );
  await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void impostor.close());
  const { port } = impostor.address() as AddressInfo;
  expect(
    await askPeer({ id: "one", address: `127.0.0.1:${port}` }, "secret", asker),
  ).toBeUndefined();
});

it("whoever took over the address of a node does not speak for it", async () => {
  const address = await door({ ...word, node: "another" });
  expect(await askPeer({ id: "one", address }, "secret", asker)).toBeUndefined();
});

it("one that is not there, or does not answer, has said nothing", async () => {
  expect(await askPeer({ id: "one", address: null }, "secret", asker)).toBeUndefined();
  expect(await askPeer({ id: "one", address: "127.0.0.1:9" }, "secret", asker)).toBeUndefined();
  const { url } = await silentServer();
  const { host } = new URL(url);
  expect(await askPeer({ id: "one", address: host }, "secret", asker)).toBeUndefined();
});

it("nobody is answered before the node has joined", async () => {
  const address = await door(word, [], undefined);
  expect(await askPeer({ id: "one", address }, "secret", asker)).toBeUndefined();
});

it("peers are listened for where the store is reached, or where the configuration says", async () => {
  const { url } = await silentServer();
  const store = (host: string) => `postgres://u@${host}/db`;
  expect(await doorHost("127.0.0.1", store(new URL(url).host))).toBe("127.0.0.1");
  expect(await doorHost("10.9.8.7", store(new URL(url).host))).toBe("10.9.8.7");
  expect(await doorHost("127.0.0.1", store("127.0.0.1:9"))).toBe("127.0.0.1");
  expect(await doorHost("127.0.0.1", "postgres://u@/db?host=/run/postgresql")).toBe("127.0.0.1");
});

async function door(
  says: NodeWord,
  heard: Peer[] = [],
  ...given: [secret?: string | undefined]
): Promise<string> {
  const opened = new PeerDoor((from) => {
    heard.push(from);
    return says;
  });
  onTestFinished(() => opened.close());
  const address = await opened.open("127.0.0.1");
  const secret = given.length === 0 ? "secret" : given[0];
  if (secret !== undefined) opened.know(secret, says.node);
  return address;
}
