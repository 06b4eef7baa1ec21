import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { couldStart } from "../../packages/core/src/queue/deadlock.ts";
import { type Delegated, decideChain } from "../../packages/core/src/queue/decide-chain.ts";
import type { LiveJob } from "../../packages/core/src/state/job.ts";
import { liveJob } from "../queue/live-job.ts";

const limits = { max_depth: 3, max_jobs: 10, max_cost_usd: 5 };

function handedOn(agents: string[], more: Partial<Delegated> = {}): Delegated {
  const chain = { id: "first", parent: "p", depth: agents.length, agents, max_usd: null };
  return { chain, isAllowed: true, limits, ...more };
}

describe("work that is handed on", () => {
  const cases: [
    what: string,
    path: string,
    more: { isAllowed?: boolean; jobs?: number; usd?: number; reserve?: number; deadlock?: string },
    refused: RegExp | undefined,
  ][] = [
    ["a first time", "a", {}, undefined],
    ["a third time", "a b c", {}, undefined],
    ["once too often", "a b c d", {}, /handed work on 3 times/],
    ["to an agent of its own path", "z a", {}, /at work in this chain already: z → a → z/],
    ["to itself", "z", {}, /z → z/],
    ["to an agent it may not trigger", "a", { isAllowed: false }, /`a` may not trigger `z`/],
    ["as the tenth job", "a", { jobs: 9 }, undefined],
    ["as the eleventh job", "a", { jobs: 10 }, /has 10 jobs already/],
    ["with a cent left", "a", { usd: 4.99 }, undefined],
    ["with nothing left", "a", { usd: 5 }, /used 5 of 5 dollars/],
    ["with less left than it may cost", "a", { usd: 4.5, reserve: 1 }, /used 4.5 of 5/],
    ["with as much left as it may cost", "a", { usd: 4, reserve: 1 }, undefined],
    ["to one that waits for the giver", "a", { deadlock: "never" }, /never/],
  ];
  test.each(cases)("%s", (_, path, { jobs = 1, usd = 0, reserve, ...more }, refused) => {
    const delegated = handedOn(path.split(" "), more);
    const decision = decideChain({ agent: "z", reserve }, delegated, { jobs, usd });
    if (!refused) expect(decision).toMatchObject({ kind: "accept", maxUsd: 5 - usd });
    else expect(decision).toMatchObject({ kind: "skip" });
    if (decision.kind === "skip") expect(decision.outcome.message).toMatch(refused ?? "");
  });

  test("however obedient the agents are, a chain stays within all its limits", () => {
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
          const delegated = { ...handedOn(path), limits: bounds };
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

describe("waiting for another agent", () => {
  const one = new Map([
    ["a", 1],
    ["b", 1],
  ]);
  const running = (id: string, agent: string, waits_for: string[] = []) =>
    liveJob(id, { agent, status: waits_for.length > 0 ? "waiting" : "running", waits_for });

  test("is fine while somebody can come to an end", () => {
    expect(couldStart("b", "a1", [running("a1", "a")], one)).toBe(true);
    expect(couldStart("b", "a1", [running("a1", "a"), running("b1", "b")], one)).toBe(true);
  });

  test("is refused to the second of two who would wait for each other", () => {
    const live = [
      running("a1", "a", ["b2"]),
      running("b1", "b"),
      liveJob("b2", { agent: "b", status: "pending" }),
    ];
    expect(couldStart("a", "b1", live, one)).toBe(false);
    expect(couldStart("a", "b1", live, new Map([...one, ["a", 2]]))).toBe(true);
  });

  test("of all who asked first, nobody ever waits for ever", () => {
    const steps = fc.array(fc.tuple(fc.nat(), fc.constantFrom("a", "b", "c")), { maxLength: 30 });
    const places = new Map(["a", "b", "c"].map((agent) => [agent, 1]));
    fc.assert(
      fc.property(steps, (wanted) => {
        let live: LiveJob[] = ["a", "b", "c"].map((agent) => running(`${agent}0`, agent));
        for (const [index, agent] of wanted) {
          const asking = live.filter(({ status }) => status === "running")[index % 3];
          if (!asking || !couldStart(agent, asking.id, live, places)) continue;
          const id = `x${live.length}`;
          live = live.map((job) =>
            job === asking ? { ...job, status: "waiting", waits_for: [id] } : job,
          );
          live.push(liveJob(id, { agent, status: "pending" }));
        }
        expect(leftStuck(live, places)).toEqual([]);
      }),
    );
  });
});

/** Lets everything that can end do so, in the plainest way, and says what is left. */
function leftStuck(given: LiveJob[], places: ReadonlyMap<string, number>): string[] {
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
