import { describe, expect, it } from "vitest";
import {
  canDeclareLost,
  canSelfRenewLease,
  mayStillBeRunning,
  type PeerStoreStatus,
} from "../../packages/core/src/cluster/lease-policy.ts";
import { findNode } from "../../packages/core/src/cluster/list-nodes.ts";
import {
  findUnresponsiveNodes,
  LostNodeHandler,
  type UnresponsiveNodes,
} from "../../packages/core/src/cluster/lost-nodes.ts";
import { isLeaseValid, type LeaseRecord } from "../../packages/core/src/store/files/lease-file.ts";
import { type Node, peerName } from "../../packages/protocol/src/records/node.ts";

describe("lease renewal without the store", () => {
  const cases: [PeerStoreStatus[], boolean][] = [
    [[], true],
    [["away"], true],
    [["away", "away"], true],
    [["reaches"], false],
    [["away", "reaches"], false],
    [["silent"], false],
    [["away", "silent"], false],
  ];
  it.each(cases)("allows renewal for the peer answers %j: %s", (words, isAllowed) => {
    expect(canSelfRenewLease(words, 4_000)).toBe(isAllowed);
  });

  it("ends self-renewal after a time, since unknown nodes may join", () => {
    expect(canSelfRenewLease([], 890_000)).toBe(true);
    expect(canSelfRenewLease([], 890_001)).toBe(false);
    expect(canSelfRenewLease(["away"], 890_001)).toBe(false);
  });
});

describe("declaring another node lost", () => {
  const cases = [
    { since: undefined, reportedAwayAt: undefined, may: false, why: "the store is unreachable" },
    {
      since: 95_000,
      reportedAwayAt: undefined,
      may: false,
      why: "the store was unreachable just now",
    },
    {
      since: 90_000,
      reportedAwayAt: undefined,
      may: true,
      why: "the store has been reachable long enough",
    },
    {
      since: 0,
      reportedAwayAt: 95_000,
      may: false,
      why: "a peer got the report that the store is unreachable",
    },
    { since: 0, reportedAwayAt: 90_000, may: true, why: "that report to a peer is old enough" },
  ];
  it.each(cases)("returns $may: $why", ({ since: reachableSince, reportedAwayAt, may }) => {
    expect(
      canDeclareLost({
        now: 100_000,
        reachableSince,
        reportedAwayAt,
        graceMs: 10_000,
      }),
    ).toBe(may);
  });
});

describe("validity of a lease for running jobs", () => {
  const cases: [string, LeaseRecord | undefined, boolean][] = [
    ["accepts an unexpired lease", { term: "a", until: 101 }, true],
    ["refuses a lease at its expiry", { term: "a", until: 100 }, false],
    ["refuses a lease of another term", { term: "b", until: 101 }, false],
    ["refuses a missing lease", undefined, false],
  ];
  it.each(cases)("%s", (_, lease, isAllowed) => {
    expect(isLeaseValid("a", lease, 100)).toBe(isAllowed);
  });
});

describe("detection of lost nodes", () => {
  const cases: [string, Node[], boolean][] = [
    ["treats a live node as present", [node({ id: "a" })], false],
    ["treats a lost node as gone", [node({ id: "a", status: "lost" })], true],
    ["treats a node that left as gone", [node({ id: "a", status: "left" })], true],
    ["treats an unlisted node as gone", [node({ id: "b" })], true],
    ["treats no node as gone when the list is empty", [], false],
  ];
  it.each(cases)("%s", (_, nodes, isGone) => {
    expect(findNode(nodes, "a").isGone).toBe(isGone);
  });
});

describe("unresponsive nodes", () => {
  const self = node({ id: "self", address: "here:1", heartbeat_at: secondsToTime(20) });

  it("uses the database clock instead of the local one", () => {
    const nodes = [
      self,
      node({ id: "quiet", heartbeat_at: secondsToTime(10) }),
      node({ id: "gone" }),
    ];
    expect(nodeIds(nodesInNeed(nodes, self, false))).toEqual({ silent: ["gone"], lost: [] });
  });

  it("lists lost nodes again for the leader only", () => {
    const nodes = [
      self,
      node({ id: "lost", status: "lost" }),
      node({ id: "left", status: "left" }),
    ];
    expect(nodeIds(nodesInNeed(nodes, self, true))).toEqual({ silent: [], lost: ["lost"] });
    expect(nodeIds(nodesInNeed(nodes, self, false))).toEqual({ silent: [], lost: [] });
  });

  it("never lists the node itself", () => {
    expect(nodeIds(nodesInNeed([{ ...self, heartbeat_at: secondsToTime(0) }], self, true))).toEqual(
      {
        silent: [],
        lost: [],
      },
    );
  });
});

describe("silent nodes that may still be running", () => {
  const [near, far] = ["near", "far"].map((id) => ({ id, address: `${id}:1` }));
  const knows = [near, far].map((peer) => peerName({ id: "", address: null, ...peer }));
  const cutOff = { heartbeat_at: secondsToTime(16) };
  const beating = { heartbeat_at: secondsToTime(17) };
  const cases: [string, string[], Node[], boolean][] = [
    ["is possible when it knew no peer", [], [node({ ...near, ...beating })], true],
    [
      "is possible when all its known peers may be cut off as well",
      knows,
      [node({ ...near, ...cutOff }), node({ ...far, ...cutOff, status: "lost" })],
      true,
    ],
    [
      "is impossible when a known peer reaches the store",
      knows,
      [node({ ...near, ...cutOff }), node({ ...far, ...beating })],
      false,
    ],
    [
      "is impossible when a known peer restarted",
      knows,
      [node({ ...near, ...cutOff }), node({ ...far, ...cutOff, address: "far:2" })],
      false,
    ],
    [
      "is impossible when a known peer left",
      knows,
      [node({ ...near, ...cutOff }), node({ ...far, ...cutOff, status: "left" })],
      false,
    ],
    [
      "is impossible when a known peer is no longer listed",
      knows,
      [node({ ...near, ...cutOff })],
      false,
    ],
  ];
  it.each(cases)("%s", (_, known, nodes, may) => {
    expect(mayStillBeRunning({ known_peers: known }, nodes, Date.parse(secondsToTime(20)))).toBe(
      may,
    );
  });

  it("declares such a node lost after 15 minutes and reports it once", async () => {
    const self = node({ id: "self", heartbeat_at: secondsToTime(900) });
    const alone = node({ id: "alone", heartbeat_at: secondsToTime(0), known_peers: [] });
    const early = nodesInNeed([self, alone], self, false);
    expect([early.silent, early.possiblyRunning]).toEqual([[], [alone]]);
    expect(nodeIds(nodesInNeed([self, alone], self, false, ["alone"])).silent).toEqual(["alone"]);
    const late = { ...self, heartbeat_at: secondsToTime(901) };
    expect(nodeIds(nodesInNeed([late, alone], late, false))).toEqual({
      silent: ["alone"],
      lost: [],
    });

    const errors: string[] = [];
    const others = new LostNodeHandler({
      store: { markLost: async () => true },
      askPeer: async () => undefined,
      settle: async () => true,
      reportError: (message) => void errors.push(message),
    });
    await others.handle(early);
    await others.handle(early);
    expect(errors).toEqual([
      expect.stringMatching(/^node one sent its last heartbeat .* 15 minutes$/),
    ]);
  });
});

function nodesInNeed(nodes: Node[], self: Node, isLead: boolean, knowSelf: string[] = []) {
  return findUnresponsiveNodes({
    nodes,
    self,
    isLeader: isLead,
    knowsThisNode: ({ id }) => knowSelf.includes(id),
  });
}

function nodeIds({ silent, lost }: Pick<UnresponsiveNodes, "silent" | "lost">) {
  return { silent: silent.map(({ id }) => id), lost: lost.map(({ id }) => id) };
}

function secondsToTime(second: number): string {
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
    config_hash: "print",
    address: null,
    epoch: 1,
    status: "live",
    joined_at: secondsToTime(0),
    heartbeat_at: secondsToTime(9),
    running: 0,
    clock_skew_ms: null,
    known_peers: ["self here:1"],
    leader: false,
    ...more,
  };
}
