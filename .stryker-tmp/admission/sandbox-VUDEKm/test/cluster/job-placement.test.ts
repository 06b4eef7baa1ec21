import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type NodeLoad,
  type Placement,
  type PlacementRules,
  placeJob,
} from "../../packages/core/src/cluster/place-job.ts";
import type { Node } from "../../packages/protocol/src/records/node.ts";
import { testNode } from "./node-fixture.ts";

const anyNodeRules: PlacementRules = { runsOn: [], whenNodeGone: "move" };

/**
 * `b:1/4 gpu` is a live node `b` with one of four slots taken and a label; `!` marks a lost node,
 * `c` the role control, `?` another configuration.
 */
function parseNode(text: string): NodeLoad {
  const [, id = "", marks = "", busy = "0", capacity = "4", labels = ""] =
    /^(\w)([!?c]*)(?::(\d+)\/(\d+))?(?: (.*))?$/.exec(text) ?? [];
  const change: Partial<Node> = {
    labels: labels === "" ? [] : labels.split(" "),
    capacity: Number(capacity),
    ...(marks.includes("!") && { status: "lost" }),
    ...(marks.includes("c") && { role: "control" }),
    ...(marks.includes("?") && { config_hash: "other" }),
  };
  return { node: testNode(id, change), busy: Number(busy) };
}

function describePlacement(placement: Placement): string {
  if (placement.kind !== "at") return placement.kind;
  const { node: at, movedFrom } = placement;
  return movedFrom === undefined ? at.id : `${at.id} from ${movedFrom}`;
}

describe("placement of a job, decided on node a", () => {
  const cases: [
    what: string,
    nodes: string[],
    rules: Partial<PlacementRules>,
    home: string | null,
    placed: string,
  ][] = [
    ["prefers this node to one with more room", ["a:3/4", "b:0/9"], {}, null, "a"],
    ["takes another node when this one is full", ["a:4/4", "b:3/4"], {}, null, "b"],
    ["takes the node with the largest free share", ["a:4/4", "b:2/4", "c:4/16"], {}, null, "c"],
    ["waits when all nodes are full", ["a:4/4", "b:4/4"], {}, null, "full"],
    ["ignores nodes with the role control", ["ac", "b"], {}, null, "b"],
    ["ignores lost nodes", ["a!", "b"], {}, null, "b"],
    ["ignores a node with another configuration", ["a:4/4", "b?"], {}, null, "full"],
    ["ignores nodes without capacity", ["a:0/0", "b:0/0"], {}, null, "full"],
    ["takes the node with the label", ["a", "b gpu"], { runsOn: ["gpu"] }, null, "b"],
    [
      "takes the node with all labels",
      ["a gpu", "b eu", "c eu gpu"],
      { runsOn: ["gpu", "eu"] },
      null,
      "c",
    ],
    ["waits for a label that no node has", ["a", "b"], { runsOn: ["gpu"] }, null, "waits"],
    ["waits for a lost node with the label", ["a", "b! gpu"], { runsOn: ["gpu"] }, null, "waits"],
    ["takes the session's node although this one has room", ["a", "b:3/4"], {}, "b", "b"],
    ["waits for a full session node", ["a", "b:4/4"], {}, "b", "full"],
    ["waits for a session node with another configuration", ["a", "b?"], {}, "b", "full"],
    ["moves when the session's node is lost", ["a", "b!"], {}, "b", "a from B"],
    [
      "waits when the session's node is lost and all others are full",
      ["a:4/4", "b!"],
      {},
      "b",
      "full",
    ],
    [
      "waits for a lost session node where the agent says so",
      ["a", "b!"],
      { whenNodeGone: "wait" },
      "b",
      "waits",
    ],
    ["moves when the session's node is unknown", ["a"], {}, "x", "a from x"],
    [
      "moves when the session's node lost its label",
      ["a gpu", "b"],
      { runsOn: ["gpu"] },
      "b",
      "a from B",
    ],
    ["waits when the session's node is this one and full", ["a:4/4", "b"], {}, "a", "full"],
  ];
  test.each(cases)("%s", (_, nodes, rules, home, placed) => {
    const places = { nodes: nodes.map(parseNode), selfId: "a", configHash: "print" };
    expect(describePlacement(placeJob(home, { ...anyNodeRules, ...rules }, places))).toBe(placed);
  });

  test("explains what a job waits for", () => {
    const places = { nodes: [parseNode("a"), parseNode("b!")], selfId: "a", configHash: "print" };
    const forLabel = placeJob(null, { ...anyNodeRules, runsOn: ["gpu", "eu"] }, places);
    expect(forLabel).toMatchObject({ message: expect.stringContaining("gpu, eu") });
    const forHome = placeJob("b", { ...anyNodeRules, whenNodeGone: "wait" }, places);
    expect(forHome).toMatchObject({ message: expect.stringContaining("node B") });
  });
});

describe("placement with random nodes", () => {
  const labels = ["gpu", "eu", "big"];
  const someNode = fc
    .record({
      id: fc.constantFrom("a", "b", "c", "d", "e"),
      role: fc.constantFrom("all" as const, "control" as const, "worker" as const),
      status: fc.constantFrom("live" as const, "live" as const, "left" as const, "lost" as const),
      labels: fc.subarray(labels),
      capacity: fc.nat(3),
      config_hash: fc.constantFrom("print", "print", "other"),
      busy: fc.nat(4),
    })
    .map(({ busy, id, ...change }) => ({ node: testNode(id, change), busy }));
  const world = fc.record({
    nodes: fc.uniqueArray(someNode, { selector: (one) => one.node.id }),
    runsOn: fc.subarray(labels),
    whenNodeGone: fc.constantFrom("wait" as const, "move" as const),
    home: fc.option(fc.constantFrom("a", "b", "c", "gone")),
  });

  test("assigns a job only to an eligible node with room", () => {
    fc.assert(
      fc.property(world, ({ nodes, home, ...rules }) => {
        const placed = placeJob(home, rules, { nodes, selfId: "a", configHash: "print" });
        if (placed.kind !== "at") return;
        const chosen = nodes.find((one) => one.node === placed.node);
        expect(chosen?.node).toMatchObject({ status: "live", config_hash: "print" });
        expect(chosen?.node.role).not.toBe("control");
        expect(chosen?.busy).toBeLessThan(chosen?.node.capacity ?? 0);
        expect(chosen?.node.labels).toEqual(expect.arrayContaining(rules.runsOn));
      }),
    );
  });

  test("leaves the session's node only when it is ineligible and moving is allowed", () => {
    fc.assert(
      fc.property(world, ({ nodes, home, ...rules }) => {
        const placed = placeJob(home, rules, { nodes, selfId: "a", configHash: "print" });
        if (placed.kind !== "at" || home === null || placed.node.id === home) return;
        expect(rules.whenNodeGone).toBe("move");
        expect(placed.movedFrom).toBeDefined();
        const left = nodes.find((one) => one.node.id === home)?.node;
        const couldRun =
          left?.status === "live" &&
          left.role !== "control" &&
          rules.runsOn.every((label) => left.labels.includes(label));
        expect(couldRun).toBe(false);
      }),
    );
  });

  test("assigns a job while any eligible node has room", () => {
    fc.assert(
      fc.property(world, ({ nodes, ...rules }) => {
        const isFree = ({ node: one, busy }: NodeLoad) =>
          one.status === "live" &&
          one.role !== "control" &&
          one.config_hash === "print" &&
          busy < one.capacity &&
          rules.runsOn.every((label) => one.labels.includes(label));
        const placed = placeJob(null, rules, { nodes, selfId: "a", configHash: "print" });
        expect(placed.kind === "at").toBe(nodes.some(isFree));
      }),
    );
  });
});
