import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type LoadedNode,
  type Placement,
  type PlaceRules,
  place,
} from "../../packages/core/src/queue/place.ts";
import type { Node } from "../../packages/core/src/state/node.ts";
import { node } from "./node.ts";

const anywhere: PlaceRules = { runsOn: [], whenGone: "move" };

/** `b:1/4 gpu` is a live node `b` with one of four places taken and a label; `!` it is gone, `c` control. */
function loaded(text: string): LoadedNode {
  const [, id = "", marks = "", busy = "0", capacity = "4", labels = ""] =
    /^(\w)([!?c]*)(?::(\d+)\/(\d+))?(?: (.*))?$/.exec(text) ?? [];
  const change: Partial<Node> = {
    labels: labels === "" ? [] : labels.split(" "),
    capacity: Number(capacity),
    ...(marks.includes("!") && { status: "lost" }),
    ...(marks.includes("c") && { role: "control" }),
    ...(marks.includes("?") && { config_print: "other" }),
  };
  return { node: node(id, change), busy: Number(busy) };
}

function told(placement: Placement): string {
  if (placement.kind !== "at") return placement.kind;
  const { node: at, movedFrom } = placement;
  return movedFrom === undefined ? at.id : `${at.id} from ${movedFrom}`;
}

describe("where a job runs, seen from node a", () => {
  const cases: [
    what: string,
    nodes: string[],
    rules: Partial<PlaceRules>,
    home: string | null,
    placed: string,
  ][] = [
    ["here, though another has more room", ["a:3/4", "b:0/9"], {}, null, "a"],
    ["elsewhere when all places here are taken", ["a:4/4", "b:3/4"], {}, null, "b"],
    ["where most of its places are free", ["a:4/4", "b:2/4", "c:4/16"], {}, null, "c"],
    ["nowhere when all are full", ["a:4/4", "b:4/4"], {}, null, "full"],
    ["never on a node of the role control", ["ac", "b"], {}, null, "b"],
    ["never on a node that is gone", ["a!", "b"], {}, null, "b"],
    ["not on one that has read another configuration", ["a:4/4", "b?"], {}, null, "full"],
    ["on a node without capacity nothing", ["a:0/0", "b:0/0"], {}, null, "full"],
    ["where the label is", ["a", "b gpu"], { runsOn: ["gpu"] }, null, "b"],
    ["where all labels are", ["a gpu", "b eu", "c eu gpu"], { runsOn: ["gpu", "eu"] }, null, "c"],
    ["it waits for a label that nobody has", ["a", "b"], { runsOn: ["gpu"] }, null, "waits"],
    [
      "it waits for a node with the label that is gone",
      ["a", "b! gpu"],
      { runsOn: ["gpu"] },
      null,
      "waits",
    ],
    ["at home, though there is room here", ["a", "b:3/4"], {}, "b", "b"],
    ["at home or nowhere while home is full", ["a", "b:4/4"], {}, "b", "full"],
    ["at home or nowhere while home reads another configuration", ["a", "b?"], {}, "b", "full"],
    ["home is gone: elsewhere", ["a", "b!"], {}, "b", "a from B"],
    ["home is gone, and all else full", ["a:4/4", "b!"], {}, "b", "full"],
    ["home is gone: it waits for it", ["a", "b!"], { whenGone: "wait" }, "b", "waits"],
    ["home was never heard of", ["a"], {}, "x", "a from x"],
    ["home has lost its label", ["a gpu", "b"], { runsOn: ["gpu"] }, "b", "a from B"],
    ["home is here, and full", ["a:4/4", "b"], {}, "a", "full"],
  ];
  test.each(cases)("%s", (_, nodes, rules, home, placed) => {
    const places = { nodes: nodes.map(loaded), here: "a", print: "print" };
    expect(told(place(home, { ...anywhere, ...rules }, places))).toBe(placed);
  });

  test("whoever waits is told for what", () => {
    const places = { nodes: [loaded("a"), loaded("b!")], here: "a", print: "print" };
    const forLabel = place(null, { ...anywhere, runsOn: ["gpu", "eu"] }, places);
    expect(forLabel).toMatchObject({ message: expect.stringContaining("gpu, eu") });
    const forHome = place("b", { ...anywhere, whenGone: "wait" }, places);
    expect(forHome).toMatchObject({ message: expect.stringContaining("node B") });
  });
});

describe("whatever nodes there are", () => {
  const labels = ["gpu", "eu", "big"];
  const someNode = fc
    .record({
      id: fc.constantFrom("a", "b", "c", "d", "e"),
      role: fc.constantFrom("all" as const, "control" as const, "worker" as const),
      status: fc.constantFrom("live" as const, "live" as const, "left" as const, "lost" as const),
      labels: fc.subarray(labels),
      capacity: fc.nat(3),
      config_print: fc.constantFrom("print", "print", "other"),
      busy: fc.nat(4),
    })
    .map(({ busy, id, ...change }) => ({ node: node(id, change), busy }));
  const world = fc.record({
    nodes: fc.uniqueArray(someNode, { selector: (one) => one.node.id }),
    runsOn: fc.subarray(labels),
    whenGone: fc.constantFrom("wait" as const, "move" as const),
    home: fc.option(fc.constantFrom("a", "b", "c", "gone")),
  });

  test("a job is only given to one that may take it and has room", () => {
    fc.assert(
      fc.property(world, ({ nodes, home, ...rules }) => {
        const placed = place(home, rules, { nodes, here: "a", print: "print" });
        if (placed.kind !== "at") return;
        const chosen = nodes.find((one) => one.node === placed.node);
        expect(chosen?.node).toMatchObject({ status: "live", config_print: "print" });
        expect(chosen?.node.role).not.toBe("control");
        expect(chosen?.busy).toBeLessThan(chosen?.node.capacity ?? 0);
        expect(chosen?.node.labels).toEqual(expect.arrayContaining(rules.runsOn));
      }),
    );
  });

  test("it leaves a home only when that cannot take it any more, and only to move", () => {
    fc.assert(
      fc.property(world, ({ nodes, home, ...rules }) => {
        const placed = place(home, rules, { nodes, here: "a", print: "print" });
        if (placed.kind !== "at" || home === null || placed.node.id === home) return;
        expect(rules.whenGone).toBe("move");
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

  test("while there is somebody free who may take it, it is given to one", () => {
    fc.assert(
      fc.property(world, ({ nodes, ...rules }) => {
        const isFree = ({ node: one, busy }: LoadedNode) =>
          one.status === "live" &&
          one.role !== "control" &&
          one.config_print === "print" &&
          busy < one.capacity &&
          rules.runsOn.every((label) => one.labels.includes(label));
        const placed = place(null, rules, { nodes, here: "a", print: "print" });
        expect(placed.kind === "at").toBe(nodes.some(isFree));
      }),
    );
  });
});
