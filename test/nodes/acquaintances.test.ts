import { expect, it, onTestFinished } from "vitest";
import { Acquaintances } from "../../packages/core/src/fleet/nodes/acquaintances.ts";
import { type NodeWord, type Peer, PeerDoor } from "../../packages/core/src/fleet/nodes/peers.ts";
import { machineTime } from "../../packages/core/src/state/lease-file.ts";
import { node } from "../queue/node.ts";

it("whoever asks is asked as well, until a list of the store says who is there", () => {
  const known = new Acquaintances(() => ({ id: "self", address: null }));
  const listed = node("listed", { address: "db:1" });
  known.list([node("self"), listed, node("gone", { status: "lost" })], machineTime());
  expect(known.all).toEqual([listed]);
  const asker = { id: "new", address: "db:2" };
  known.askedBy(asker);
  known.askedBy(asker);
  expect(known.all).toEqual([listed, asker]);
  known.list([listed], machineTime() - 1_000);
  expect(known.all).toEqual([listed, asker]);
  known.list([listed], machineTime() + 1);
  expect(known.all).toEqual([listed]);
});

it("a node that has answered knows this one, after its lease, until this one joins anew", async () => {
  let now = 0;
  const known = new Acquaintances(
    () => ({ id: "self", address: null }),
    () => now,
  );
  const there = await peer("there", { reaches: true });
  const away = await peer("away", { reaches: false });
  const silent: Peer = { id: "silent", address: "127.0.0.1:9" };
  known.begin("secret");
  known.list(
    [there, away, silent].map((one) => node(one.id, one)),
    now,
  );
  expect(await known.askAll()).toEqual(["reaches", "away", "silent"]);
  now = 9_999;
  expect([there, away, silent].map((one) => known.isKnownTo(one))).toEqual([false, false, false]);
  now = 10_000;
  expect([there, away, silent].map((one) => known.isKnownTo(one))).toEqual([true, true, false]);
  expect(known.isKnownTo({ ...there, address: "127.0.0.1:9" })).toBe(false);
  known.begin("secret");
  expect(known.isKnownTo(there)).toBe(false);
});

async function peer(id: string, says: Pick<NodeWord, "reaches">): Promise<Peer> {
  const door = new PeerDoor(() => ({ node: id, lives: true, ...says }));
  onTestFinished(() => door.close());
  const address = await door.open("127.0.0.1");
  door.know("secret", id);
  return { id, address };
}
