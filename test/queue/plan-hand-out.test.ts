import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type HandOutRules, planHandOut } from "../../packages/core/src/queue/plan-hand-out.ts";
import type { HandOutFacts } from "../../packages/core/src/state/hand-out.ts";
import type { LiveJob } from "../../packages/core/src/state/job.ts";
import { at, liveJob, noon } from "./live-job.ts";
import { node } from "./node.ts";

const rules: HandOutRules = {
  fleet: 100,
  agents: new Map([
    ["coder", 100],
    ["writer", 100],
  ]),
  paused: new Set(),
  servedAt: new Map(),
  places: new Map([
    ["coder", { runsOn: [], whenGone: "move" }],
    ["writer", { runsOn: ["gpu"], whenGone: "wait" }],
  ]),
  latestOf: () => null,
};

function plan(facts: Partial<HandOutFacts>, change: Partial<HandOutRules> = {}) {
  const live = facts.live ?? [];
  const homes = facts.homes ?? new Map(live.map(({ id }) => [id, null]));
  return planHandOut(
    { live, nodes: [], servedAt: new Map(), ...facts, homes },
    { ...rules, ...change },
    "a",
    noon,
  );
}

/** `job@node`, in order. */
function assigned({ assign }: ReturnType<typeof plan>): string {
  return assign.map(({ id, assigned: { node: to } }) => `${id}@${to}`).join(" ");
}

const given = (to: string, epoch = 1) => ({ node: to, epoch, at: at(-5).toISOString() });

test("jobs go where there is room, in the order of the queue, as of the node's last join", () => {
  const live = ["1", "2", "3", "4"].map((id) => liveJob(id));
  const nodes = [node("a", { capacity: 2 }), node("b", { capacity: 1, epoch: 7 })];
  const decided = plan({ live, nodes });
  expect(assigned(decided)).toBe("1@a 2@a 3@b");
  expect(decided.assign[2]).toMatchObject({
    assigned: { node: "b", epoch: 7, at: noon.toISOString() },
    warnings: [],
  });
});

test("what was given and has not begun takes its place, in the fleet and on its node", () => {
  const live = [liveJob("1", { assigned: given("b") }), liveJob("2"), liveJob("3")];
  const nodes = [node("a", { capacity: 1 }), node("b", { capacity: 2 })];
  expect(assigned(plan({ live, nodes }))).toBe("2@a 3@b");
  expect(assigned(plan({ live, nodes }, { fleet: 2 }))).toBe("2@a");
  expect(plan({ live, nodes }).giveBack).toEqual([]);
});

test("one that has no place keeps nobody else back", () => {
  const live = [liveJob("1", { agent: "writer", priority: 1 }), liveJob("2")];
  const decided = plan({ live, nodes: [node("a")] }, { fleet: 1 });
  expect(assigned(decided)).toBe("2@a");
  expect(decided.notes).toEqual([{ id: "1", warning: expect.stringContaining("gpu") }]);
});

describe("what goes back into the queue and is handed out anew", () => {
  const cases: [what: string, Partial<LiveJob>, back: boolean][] = [
    ["what an earlier process of the node was given", { assigned: given("b", 1) }, true],
    ["what the node has", { assigned: given("b", 2) }, false],
    ["what a node was given that is gone", { assigned: given("c") }, true],
    ["what a node was given that nobody knows", { assigned: given("x") }, true],
    ["not what has begun there", { assigned: null, node: "c", status: "running" }, false],
    [
      "a next attempt that a lost node was given",
      { assigned: given("c"), status: "waiting", due_at: at(-9).toISOString() },
      true,
    ],
  ];
  const nodes = [node("a"), node("b", { epoch: 2 }), node("c", { status: "lost" })];
  test.each(cases)("%s", (_, change, back) => {
    const decided = plan({ live: [liveJob("1", change)], nodes });
    expect(decided.giveBack).toEqual(back ? ["1"] : []);
    expect(assigned(decided)).toBe(back ? "1@a" : "");
  });
});

test("homes are asked for first, and for no more jobs than could start", () => {
  const live = ["1", "2", "3"].map((id) => liveJob(id));
  const nodes = [node("a"), node("b")];
  const latest = { place: "cli" as const, ownOf: null };
  const change = { fleet: 2, latestOf: () => latest };
  const first = plan({ live, nodes, homes: new Map() }, change);
  expect(first).toMatchObject({
    unknown: [
      { id: "1", latest },
      { id: "2", latest },
    ],
  });
  const homes = new Map([
    ["1", "b"],
    ["2", null],
  ]);
  expect(assigned(plan({ live, nodes, homes }, change))).toBe("1@b 2@a");
});

test("of a thousand jobs that belong elsewhere no more than some are asked about", () => {
  const live = Array.from({ length: 1000 }, (_, index) => liveJob(String(index)));
  const nodes = [node("a"), node("b", { capacity: 0 })];
  const homes = new Map<string, string | null>();
  for (let round = 0; round < 20; round += 1) {
    const decided = plan({ live, nodes, homes });
    for (const { id } of decided.unknown) homes.set(id, "b");
    if (decided.unknown.length > 0) continue;
    expect(decided.assign).toEqual([]);
    break;
  }
  expect(homes.size).toBe(500);
});

test("whoever leaves a home that is gone is told so", () => {
  const decided = plan({
    live: [liveJob("1")],
    nodes: [node("a"), node("b", { status: "left" })],
    homes: new Map([["1", "b"]]),
  });
  expect(decided.assign).toMatchObject([
    { id: "1", assigned: { node: "a" }, warnings: [expect.stringContaining("node B")] },
  ]);
});

test("a job that waits for another agent leaves its place on its node to it", () => {
  const parent = liveJob("1", { status: "waiting", waits_for: ["2"], node: "a" });
  const nodes = [node("a", { capacity: 1 })];
  expect(assigned(plan({ live: [parent, liveJob("2")], nodes }))).toBe("2@a");
});

test("whatever is in the queue, no limit is ever broken", () => {
  const agents = ["coder", "writer"];
  const someJob = fc.record({
    agent: fc.constantFrom(...agents),
    status: fc.constantFrom("pending" as const, "running" as const),
    priority: fc.nat(2),
    on: fc.option(fc.constantFrom("a", "b", "c")),
    isGiven: fc.boolean(),
  });
  const world = fc.record({
    jobs: fc.array(someJob, { maxLength: 25 }),
    capacities: fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4)),
    fleet: fc.integer({ min: 1, max: 8 }),
    perAgent: fc.tuple(fc.nat(4), fc.nat(4)),
    homes: fc.array(fc.option(fc.constantFrom("a", "b", "c")), { minLength: 25, maxLength: 25 }),
  });
  fc.assert(
    fc.property(world, ({ jobs, capacities, fleet, perAgent, homes }) => {
      const nodes = ["a", "b", "c"].map((id, index) =>
        node(id, { capacity: capacities[index] ?? 0, labels: id === "b" ? [] : ["gpu"] }),
      );
      const live = jobs.map(({ agent, status, priority, on, isGiven }, index) => {
        const isUnbegun = status === "pending" && isGiven && on !== null;
        return liveJob(String(index), {
          ...{ agent, status, priority, node: on },
          assigned: isUnbegun ? given(on) : null,
        });
      });
      const limits = new Map(agents.map((agent, index) => [agent, perAgent[index] ?? 0]));
      const known = new Map(live.map(({ id }, index) => [id, homes[index] ?? null]));
      const { assign } = plan({ live, nodes, homes: known }, { fleet, agents: limits });
      const isBusy = (job: LiveJob) => job.status === "running" || job.assigned != null;
      const before = live.filter(isBusy);
      const started = assign.map(({ id }) => live.find((job) => job.id === id) ?? liveJob("?"));
      expect(started.every((job) => !isBusy(job))).toBe(true);
      expect(new Set(started).size).toBe(started.length);
      if (started.length > 0) expect(before.length + started.length).toBeLessThanOrEqual(fleet);
      for (const agent of agents) {
        const of = (some: LiveJob[]) => some.filter((job) => job.agent === agent).length;
        if (of(started) > 0)
          expect(of(before) + of(started)).toBeLessThanOrEqual(limits.get(agent) ?? 0);
      }
      for (const { id, capacity } of nodes) {
        const here = assign.filter(({ assigned: to }) => to.node === id).length;
        const busy = before.filter((job) => (job.assigned?.node ?? job.node) === id).length;
        if (here > 0) expect(busy + here).toBeLessThanOrEqual(capacity);
      }
      for (const { id, assigned: to } of assign) {
        const home = known.get(id) ?? null;
        const agent = live.find((job) => job.id === id)?.agent;
        if (agent === "writer") expect(to.node).not.toBe("b");
        if (home !== null && !(agent === "writer" && home === "b")) expect(to.node).toBe(home);
      }
    }),
  );
});
