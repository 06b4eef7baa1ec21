import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AssignmentRules,
  planAssignments,
} from "../../packages/core/src/cluster/plan-assignments.ts";
import type { AssignmentSnapshot } from "../../packages/core/src/store/model/assignment.ts";
import type { UnfinishedJob } from "../../packages/protocol/src/records/job.ts";
import { liveJob, noon, secondsAfterNoon } from "../jobs/job-fixture.ts";
import { testNode } from "./node-fixture.ts";

const assignmentRules: AssignmentRules = {
  fleet: 100,
  agents: new Map([
    ["coder", 100],
    ["writer", 100],
  ]),
  paused: new Set(),
  servedAt: new Map(),
  placementRules: new Map([
    ["coder", { runsOn: [], whenNodeGone: "move" }],
    ["writer", { runsOn: ["gpu"], whenNodeGone: "wait" }],
  ]),
  latestSessionQuery: () => null,
};

function planFor(facts: Partial<AssignmentSnapshot>, change: Partial<AssignmentRules> = {}) {
  const live = facts.liveJobs ?? [];
  const homes = facts.affinityNodes ?? new Map(live.map(({ id }) => [id, null]));
  return planAssignments(
    { liveJobs: live, nodes: [], lastAssigned: new Map(), ...facts, affinityNodes: homes },
    { ...assignmentRules, ...change },
    "a",
    noon,
  );
}

/** The assignments as `job@node`, in order. */
function assigned({ assign }: ReturnType<typeof planFor>): string {
  return assign.map(({ id, assigned: { node: to } }) => `${id}@${to}`).join(" ");
}

const assignment = (to: string, epoch = 1) => ({
  node: to,
  epoch,
  at: secondsAfterNoon(-5).toISOString(),
});

test("assigns jobs in queue order where there is room, with the node's current epoch", () => {
  const live = ["1", "2", "3", "4"].map((id) => liveJob(id));
  const nodes = [testNode("a", { capacity: 2 }), testNode("b", { capacity: 1, epoch: 7 })];
  const decided = planFor({ liveJobs: live, nodes });
  expect(assigned(decided)).toBe("1@a 2@a 3@b");
  expect(decided.assign[2]).toMatchObject({
    assigned: { node: "b", epoch: 7, at: noon.toISOString() },
    warnings: [],
  });
});

test("counts assigned jobs that have not started against fleet and node limits", () => {
  const live = [liveJob("1", { assigned: assignment("b") }), liveJob("2"), liveJob("3")];
  const nodes = [testNode("a", { capacity: 1 }), testNode("b", { capacity: 2 })];
  expect(assigned(planFor({ liveJobs: live, nodes }))).toBe("2@a 3@b");
  expect(assigned(planFor({ liveJobs: live, nodes }, { fleet: 2 }))).toBe("2@a");
  expect(planFor({ liveJobs: live, nodes }).unassign).toEqual([]);
});

test("does not let a job without a suitable node block others", () => {
  const live = [liveJob("1", { agent: "writer", priority: 1 }), liveJob("2")];
  const decided = planFor({ liveJobs: live, nodes: [testNode("a")] }, { fleet: 1 });
  expect(assigned(decided)).toBe("2@a");
  expect(decided.waitWarnings).toEqual([{ id: "1", warning: expect.stringContaining("gpu") }]);
});

describe("returning assignments to the queue", () => {
  const cases: [what: string, Partial<UnfinishedJob>, back: boolean][] = [
    [
      "returns a job assigned to an earlier process of the node",
      { assigned: assignment("b", 1) },
      true,
    ],
    ["keeps a job that the node has", { assigned: assignment("b", 2) }, false],
    ["returns a job assigned to a lost node", { assigned: assignment("c") }, true],
    ["returns a job assigned to an unknown node", { assigned: assignment("x") }, true],
    ["keeps a job that has started there", { assigned: null, node: "c", status: "running" }, false],
    [
      "returns the next attempt of a job assigned to a lost node",
      { assigned: assignment("c"), status: "waiting", due_at: secondsAfterNoon(-9).toISOString() },
      true,
    ],
  ];
  const nodes = [testNode("a"), testNode("b", { epoch: 2 }), testNode("c", { status: "lost" })];
  test.each(cases)("%s", (_, change, back) => {
    const decided = planFor({ liveJobs: [liveJob("1", change)], nodes });
    expect(decided.unassign).toEqual(back ? ["1"] : []);
    expect(assigned(decided)).toBe(back ? "1@a" : "");
  });
});

test("queries session nodes first, and only for jobs that could start", () => {
  const live = ["1", "2", "3"].map((id) => liveJob(id));
  const nodes = [testNode("a"), testNode("b")];
  const latest = { sessionHome: "cli" as const, ownerSchedule: null };
  const change = { fleet: 2, latestSessionQuery: () => latest };
  const first = planFor({ liveJobs: live, nodes, affinityNodes: new Map() }, change);
  expect(first).toMatchObject({
    affinityQueries: [
      { id: "1", latestSession: latest },
      { id: "2", latestSession: latest },
    ],
  });
  const homes = new Map([
    ["1", "b"],
    ["2", null],
  ]);
  expect(assigned(planFor({ liveJobs: live, nodes, affinityNodes: homes }, change))).toBe(
    "1@b 2@a",
  );
});

test("limits the queries for a thousand jobs that belong on other nodes", () => {
  const live = Array.from({ length: 1000 }, (_, index) => liveJob(String(index)));
  const nodes = [testNode("a"), testNode("b", { capacity: 0 })];
  const homes = new Map<string, string | null>();
  for (let round = 0; round < 20; round += 1) {
    const decided = planFor({ liveJobs: live, nodes, affinityNodes: homes });
    for (const { id } of decided.affinityQueries) homes.set(id, "b");
    if (decided.affinityQueries.length > 0) continue;
    expect(decided.assign).toEqual([]);
    break;
  }
  expect(homes.size).toBe(500);
});

test("adds a warning to a job that leaves a lost session node", () => {
  const decided = planFor({
    liveJobs: [liveJob("1")],
    nodes: [testNode("a"), testNode("b", { status: "left" })],
    affinityNodes: new Map([["1", "b"]]),
  });
  expect(decided.assign).toMatchObject([
    { id: "1", assigned: { node: "a" }, warnings: [expect.stringContaining("node B")] },
  ]);
});

test("gives the slot of a waiting parent to the delegated job on the same node", () => {
  const parent = liveJob("1", { status: "waiting", waits_for: ["2"], node: "a" });
  const nodes = [testNode("a", { capacity: 1 })];
  expect(assigned(planFor({ liveJobs: [parent, liveJob("2")], nodes }))).toBe("2@a");
});

test("breaks no limit for any queue", () => {
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
        testNode(id, { capacity: capacities[index] ?? 0, labels: id === "b" ? [] : ["gpu"] }),
      );
      const live = jobs.map(({ agent, status, priority, on, isGiven }, index) => {
        const isUnbegun = status === "pending" && isGiven && on !== null;
        return liveJob(String(index), {
          ...{ agent, status, priority, node: on },
          assigned: isUnbegun ? assignment(on) : null,
        });
      });
      const limits = new Map(agents.map((agent, index) => [agent, perAgent[index] ?? 0]));
      const known = new Map(live.map(({ id }, index) => [id, homes[index] ?? null]));
      const { assign } = planFor(
        { liveJobs: live, nodes, affinityNodes: known },
        { fleet, agents: limits },
      );
      const isBusy = (job: UnfinishedJob) => job.status === "running" || job.assigned != null;
      const before = live.filter(isBusy);
      const started = assign.map(({ id }) => live.find((job) => job.id === id) ?? liveJob("?"));
      expect(started.every((job) => !isBusy(job))).toBe(true);
      expect(new Set(started).size).toBe(started.length);
      if (started.length > 0) expect(before.length + started.length).toBeLessThanOrEqual(fleet);
      for (const agent of agents) {
        const of = (some: UnfinishedJob[]) => some.filter((job) => job.agent === agent).length;
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
