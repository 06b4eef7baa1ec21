import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
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
  const headers = { nonce: "0".repeat(32), asker: who, seal: "f".repeat(64) };
  expect((await fetch(`http://${address}/store`, { headers })).status).toBe(403);
});

it.each(["%", "{", JSON.stringify({ id: 7 })])(
  "a question of the fleet that cannot be read is refused, and the next is answered: %s",
  async (who) => {
    const address = await door(word);
    const nonce = "0".repeat(32);
    const seal = createHmac("sha256", "secret").update(`ask ${nonce} ${who}`).digest("hex");
    const headers = { nonce, asker: who, seal };
    expect((await fetch(`http://${address}/store`, { headers })).status).toBe(403);
    expect(await askPeer({ id: "one", address }, "secret", asker)).toEqual(word);
  },
);

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
  if (secret !== undefined) opened.know(secret);
  return address;
}
