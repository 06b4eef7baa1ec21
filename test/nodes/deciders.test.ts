import { describe, expect, it } from "vitest";
import { findNode } from "../../packages/core/src/fleet/nodes/find-node.ts";
import {
  LostNodes,
  type NodesInNeed,
  needingCare,
} from "../../packages/core/src/fleet/nodes/lost-nodes.ts";
import {
  mayBeOnItsOwn,
  mayGoOn,
  mayLose,
  type PeerWord,
} from "../../packages/core/src/fleet/nodes/may-go-on.ts";
import { isWithin, type NodeLease } from "../../packages/core/src/state/lease-file.ts";
import { type Node, peerName } from "../../packages/core/src/state/node.ts";

describe("a node that does not reach the store goes on only if nobody can take over", () => {
  const cases: [PeerWord[], boolean][] = [
    [[], true],
    [["away"], true],
    [["away", "away"], true],
    [["reaches"], false],
    [["away", "reaches"], false],
    [["silent"], false],
    [["away", "silent"], false],
  ];
  it.each(cases)("its peers say %j: %s", (words, goesOn) => {
    expect(mayGoOn(words, 4_000)).toBe(goesOn);
  });

  it("and not for ever, since others may come of whom it does not know", () => {
    expect(mayGoOn([], 890_000)).toBe(true);
    expect(mayGoOn([], 890_001)).toBe(false);
    expect(mayGoOn(["away"], 890_001)).toBe(false);
  });
});

describe("another node is called lost only by one who has long reached the store", () => {
  const cases = [
    { since: undefined, said: undefined, may: false, why: "it does not reach it" },
    { since: 95_000, said: undefined, may: false, why: "it was away just now" },
    { since: 90_000, said: undefined, may: true, why: "it has reached it for long enough" },
    { since: 0, said: 95_000, may: false, why: "a peer was told that it is away" },
    { since: 0, said: 90_000, may: true, why: "a peer was told so long ago" },
  ];
  it.each(cases)("$may: $why", ({ since: reachedSince, said: saidAwayAt, may }) => {
    expect(mayLose({ now: 100_000, reachedSince, saidAwayAt, patience: 10_000 })).toBe(may);
  });
});

describe("what was begun under a lease goes on", () => {
  const cases: [string, NodeLease | undefined, boolean][] = [
    ["while it lasts", { term: "a", until: 101 }, true],
    ["not at its end", { term: "a", until: 100 }, false],
    ["not under another", { term: "b", until: 101 }, false],
    ["not without one", undefined, false],
  ];
  it.each(cases)("%s", (_, lease, goesOn) => {
    expect(isWithin("a", lease, 100)).toBe(goesOn);
  });
});

describe("a node is gone", () => {
  const cases: [string, Node[], boolean][] = [
    ["not while it is live", [node({ id: "a" })], false],
    ["when it was lost", [node({ id: "a", status: "lost" })], true],
    ["when it left", [node({ id: "a", status: "left" })], true],
    ["when nobody knows it any more", [node({ id: "b" })], true],
    ["not as long as nobody is known at all", [], false],
  ];
  it.each(cases)("%s", (_, nodes, isGone) => {
    expect(findNode(nodes, "a").isGone).toBe(isGone);
  });
});

describe("which nodes need care", () => {
  const self = node({ id: "self", address: "here:1", heartbeat_at: at(20) });

  it("is told by the clock of the database, whatever the one here says", () => {
    const nodes = [self, node({ id: "quiet", heartbeat_at: at(10) }), node({ id: "gone" })];
    expect(idsOf(care(nodes, self, false))).toEqual({ silent: ["gone"], lost: [] });
  });

  it("lost ones are seen to by the lead once more", () => {
    const nodes = [
      self,
      node({ id: "lost", status: "lost" }),
      node({ id: "left", status: "left" }),
    ];
    expect(idsOf(care(nodes, self, true))).toEqual({ silent: [], lost: ["lost"] });
    expect(idsOf(care(nodes, self, false))).toEqual({ silent: [], lost: [] });
  });

  it("a node does not take care of itself", () => {
    expect(idsOf(care([{ ...self, heartbeat_at: at(0) }], self, true))).toEqual({
      silent: [],
      lost: [],
    });
  });
});

describe("a silent node may have gone on by itself", () => {
  const [near, far] = ["near", "far"].map((id) => ({ id, address: `${id}:1` }));
  const knows = [near, far].map((peer) => peerName({ id: "", address: null, ...peer }));
  const cutOff = { heartbeat_at: at(16) };
  const beating = { heartbeat_at: at(17) };
  const cases: [string, string[], Node[], boolean][] = [
    ["when it knew of nobody", [], [node({ ...near, ...beating })], true],
    [
      "when all whom it knew may be cut off as well",
      knows,
      [node({ ...near, ...cutOff }), node({ ...far, ...cutOff, status: "lost" })],
      true,
    ],
    [
      "not when one of them reaches the store",
      knows,
      [node({ ...near, ...cutOff }), node({ ...far, ...beating })],
      false,
    ],
    [
      "not when one of them was started again",
      knows,
      [node({ ...near, ...cutOff }), node({ ...far, ...cutOff, address: "far:2" })],
      false,
    ],
    [
      "not when one of them has left",
      knows,
      [node({ ...near, ...cutOff }), node({ ...far, ...cutOff, status: "left" })],
      false,
    ],
    ["not when nobody knows one of them any more", knows, [node({ ...near, ...cutOff })], false],
  ];
  it.each(cases)("%s", (_, known, nodes, may) => {
    expect(mayBeOnItsOwn({ knows: known }, nodes, Date.parse(at(20)))).toBe(may);
  });

  it("then it counts as lost after a quarter of an hour, and that is said once", async () => {
    const self = node({ id: "self", heartbeat_at: at(900) });
    const alone = node({ id: "alone", heartbeat_at: at(0), knows: [] });
    const early = care([self, alone], self, false);
    expect([early.silent, early.onTheirOwn]).toEqual([[], [alone]]);
    expect(idsOf(care([self, alone], self, false, ["alone"])).silent).toEqual(["alone"]);
    const late = { ...self, heartbeat_at: at(901) };
    expect(idsOf(care([late, alone], late, false))).toEqual({ silent: ["alone"], lost: [] });

    const said: string[] = [];
    const others = new LostNodes({
      store: { lose: async () => true },
      ask: async () => undefined,
      settle: async () => true,
      trouble: (message) => void said.push(message),
    });
    await others.care(early);
    await others.care(early);
    expect(said).toEqual([expect.stringMatching(/^node one was heard of last .* 15 minutes$/)]);
  });
});

function care(nodes: Node[], self: Node, isLead: boolean, knowSelf: string[] = []) {
  return needingCare({ nodes, self, isLead, isKnownTo: ({ id }) => knowSelf.includes(id) });
}

function idsOf({ silent, lost }: Pick<NodesInNeed, "silent" | "lost">) {
  return { silent: silent.map(({ id }) => id), lost: lost.map(({ id }) => id) };
}

function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
}

function node(more: Partial<Node>): Node {
  return {
    id: "one",
    name: "one",
    role: "all",
    labels: [],
    capacity: 1,
    version: "1.0.0",
    config_print: "print",
    address: null,
    epoch: 1,
    status: "live",
    joined_at: at(0),
    heartbeat_at: at(9),
    running: 0,
    skew_ms: null,
    knows: ["self here:1"],
    lead: false,
    ...more,
  };
}
