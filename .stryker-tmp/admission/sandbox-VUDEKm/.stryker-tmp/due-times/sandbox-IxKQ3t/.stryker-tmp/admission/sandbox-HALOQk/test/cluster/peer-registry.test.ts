import { expect, it, onTestFinished } from "vitest";
import { PeerRegistry } from "../../packages/core/src/cluster/peer-registry.ts";
import {
  type Peer,
  PeerServer,
  type PeerStatus,
} from "../../packages/core/src/cluster/peer-server.ts";
import { uptimeMs } from "../../packages/core/src/store/files/lease-file.ts";
import { testNode } from "./node-fixture.ts";

it("asks back a node that asked, until the store's list is newer", () => {
  const registry = new PeerRegistry(() => ({ id: "self", address: null }));
  const listed = testNode("listed", { address: "db:1" });
  registry.update([testNode("self"), listed, testNode("gone", { status: "lost" })], uptimeMs());
  expect(registry.all).toEqual([listed]);
  const asker = { id: "new", address: "db:2" };
  registry.recordAsker(asker);
  registry.recordAsker(asker);
  expect(registry.all).toEqual([listed, asker]);
  registry.update([listed], uptimeMs() - 1_000);
  expect(registry.all).toEqual([listed, asker]);
  registry.update([listed], uptimeMs() + 1);
  expect(registry.all).toEqual([listed]);
});

it("assumes a peer that answered knows this node after one lease, until this node rejoins", async () => {
  let now = 0;
  const registry = new PeerRegistry(
    () => ({ id: "self", address: null }),
    () => now,
  );
  const there = await startPeer("there", { reaches: true });
  const away = await startPeer("away", { reaches: false });
  const silent: Peer = { id: "silent", address: "127.0.0.1:9" };
  registry.reset("secret");
  registry.update(
    [there, away, silent].map((one) => testNode(one.id, one)),
    now,
  );
  expect(await registry.askAll()).toEqual(["reaches", "away", "silent"]);
  now = 9_999;
  expect([there, away, silent].map((one) => registry.knowsThisNode(one))).toEqual([
    false,
    false,
    false,
  ]);
  now = 10_000;
  expect([there, away, silent].map((one) => registry.knowsThisNode(one))).toEqual([
    true,
    true,
    false,
  ]);
  expect(registry.knowsThisNode({ ...there, address: "127.0.0.1:9" })).toBe(false);
  registry.reset("secret");
  expect(registry.knowsThisNode(there)).toBe(false);
});

async function startPeer(id: string, status: Pick<PeerStatus, "reaches">): Promise<Peer> {
  const server = new PeerServer(() => ({ node: id, lives: true, ...status }));
  onTestFinished(() => server.close());
  const address = await server.listen("127.0.0.1");
  server.setCredentials("secret", id);
  return { id, address };
}
