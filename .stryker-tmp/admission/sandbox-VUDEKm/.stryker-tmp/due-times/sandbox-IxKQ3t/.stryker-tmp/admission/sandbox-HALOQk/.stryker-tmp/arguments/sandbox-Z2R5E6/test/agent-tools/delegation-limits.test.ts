import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canStartWhileWaiting } from "../../packages/core/src/jobs/admission/deadlock.ts";
import {
  type Delegation,
  decideChain,
} from "../../packages/core/src/jobs/admission/decide-chain.ts";
import type { UnfinishedJob } from "../../packages/protocol/src/records/job.ts";
import { liveJob } from "../jobs/job-fixture.ts";

const limits = { max_depth: 3, max_jobs: 10, max_cost_usd: 5 };

function delegatedJob(agents: string[], more: Partial<Delegation> = {}): Delegation {
  const chain = { id: "first", parent: "p", depth: agents.length, agents, max_usd: null };
  return { chain, isAllowed: true, limits, ...more };
}

describe("limits of a delegation chain", () => {
  const cases: [
    what: string,
    path: string,
    more: { isAllowed?: boolean; jobs?: number; usd?: number; reserve?: number; deadlock?: string },
    refused: RegExp | undefined,
  ][] = [
    ["accepts a first delegation", "a", {}, undefined],
    ["accepts a delegation at the maximum depth", "a b c", {}, undefined],
    ["refuses a delegation beyond the maximum depth", "a b c d", {}, /maximum depth of 3/],
    [
      "refuses an agent that is already in its own path",
      "z a",
      {},
      /already in this chain: z → a → z/,
    ],
    ["refuses a delegation to itself", "z", {}, /z → z/],
    ["refuses an agent outside may_trigger", "a", { isAllowed: false }, /`a` may not trigger `z`/],
    ["accepts the tenth job", "a", { jobs: 9 }, undefined],
    ["refuses the eleventh job", "a", { jobs: 10 }, /already has 10 jobs/],
    ["accepts with a cent left", "a", { usd: 4.99 }, undefined],
    ["refuses with nothing left", "a", { usd: 5 }, /used 5 of 5 dollars/],
    [
      "refuses when less is left than the job may cost",
      "a",
      { usd: 4.5, reserve: 1 },
      /used 4.5 of 5/,
    ],
    [
      "accepts when exactly as much is left as the job may cost",
      "a",
      { usd: 4, reserve: 1 },
      undefined,
    ],
    [
      "refuses to wait for an agent that cannot start before the parent ends",
      "a",
      { deadlock: "never" },
      /never/,
    ],
  ];
  test.each(cases)("%s", (_, path, { jobs = 1, usd = 0, reserve, ...more }, refused) => {
    const delegated = delegatedJob(path.split(" "), more);
    const decision = decideChain({ agent: "z", reserve }, delegated, { jobs, usd });
    if (!refused) expect(decision).toMatchObject({ kind: "accept", maxUsd: 5 - usd });
    else expect(decision).toMatchObject({ kind: "skip" });
    if (decision.kind === "skip") expect(decision.outcome.message).toMatch(refused ?? "");
  });

  test("keeps a chain within all its limits, however the agents delegate", () => {
    const anyLimits = fc.record({
      max_depth: fc.integer({ min: 1, max: 5 }),
      max_jobs: fc.integer({ min: 1, max: 12 }),
      max_cost_usd: fc.integer({ min: 1, max: 20 }),
    });
    const asks = fc.array(fc.tuple(fc.nat(), fc.constantFrom("a", "b", "c", "d"), fc.nat(4)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(anyLimits, asks, (bounds, wanted) => {
        const jobs = [{ agent: "a", path: [] as string[], reserve: 0 }];
        for (const [index, agent, reserve] of wanted) {
          const giver = jobs[index % jobs.length];
          if (!giver) continue;
          const path = [...giver.path, giver.agent];
          const spent = { jobs: jobs.length, usd: jobs.reduce((sum, one) => sum + one.reserve, 0) };
          const delegated = { ...delegatedJob(path), limits: bounds };
          const { kind } = decideChain({ agent, reserve }, delegated, spent);
          if (kind === "accept") jobs.push({ agent, path, reserve });
        }
        expect(jobs.length).toBeLessThanOrEqual(Math.max(bounds.max_jobs, 1));
        const cost = jobs.reduce((sum, one) => sum + one.reserve, 0);
        expect(cost).toBeLessThanOrEqual(bounds.max_cost_usd);
        for (const { agent, path } of jobs) {
          expect(path.length).toBeLessThanOrEqual(bounds.max_depth);
          expect(path).not.toContain(agent);
        }
      }),
    );
  });
});

describe("deadlock check for waiting jobs", () => {
  const one = new Map([
    ["a", 1],
    ["b", 1],
  ]);
  const running = (id: string, agent: string, waits_for: string[] = []) =>
    liveJob(id, { agent, status: waits_for.length > 0 ? "waiting" : "running", waits_for });

  test("accepts a wait while some job can finish", () => {
    expect(canStartWhileWaiting("b", "a1", [running("a1", "a")], one)).toBe(true);
    expect(canStartWhileWaiting("b", "a1", [running("a1", "a"), running("b1", "b")], one)).toBe(
      true,
    );
  });

  test("refuses the second of two jobs that would wait for each other", () => {
    const live = [
      running("a1", "a", ["b2"]),
      running("b1", "b"),
      liveJob("b2", { agent: "b", status: "pending" }),
    ];
    expect(canStartWhileWaiting("a", "b1", live, one)).toBe(false);
    expect(canStartWhileWaiting("a", "b1", live, new Map([...one, ["a", 2]]))).toBe(true);
  });

  test("never leaves a job waiting forever", () => {
    const steps = fc.array(fc.tuple(fc.nat(), fc.constantFrom("a", "b", "c")), { maxLength: 30 });
    const places = new Map(["a", "b", "c"].map((agent) => [agent, 1]));
    fc.assert(
      fc.property(steps, (wanted) => {
        let live: UnfinishedJob[] = ["a", "b", "c"].map((agent) => running(`${agent}0`, agent));
        for (const [index, agent] of wanted) {
          const asking = live.filter(({ status }) => status === "running")[index % 3];
          if (!asking || !canStartWhileWaiting(agent, asking.id, live, places)) continue;
          const id = `x${live.length}`;
          live = live.map((job) =>
            job === asking ? { ...job, status: "waiting", waits_for: [id] } : job,
          );
          live.push(liveJob(id, { agent, status: "pending" }));
        }
        expect(findStuckJobs(live, places)).toEqual([]);
      }),
    );
  });
});

/** Ends every job that can end, and returns the jobs that remain stuck. */
function findStuckJobs(given: UnfinishedJob[], places: ReadonlyMap<string, number>): string[] {
  let live = given;
  for (;;) {
    const ids = new Set(live.map(({ id }) => id));
    const next = live.find((job) =>
      job.status === "pending"
        ? live.filter((other) => other.agent === job.agent && other.status !== "pending").length <
          (places.get(job.agent) ?? 1)
        : job.waits_for.every((id) => !ids.has(id)),
    );
    if (!next) return live.map(({ id }) => id);
    live = live.filter((job) => job !== next);
  }
}
