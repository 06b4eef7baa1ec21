import type { Outcome } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { canStartWhileWaiting } from "../../packages/core/src/jobs/admission/deadlock.ts";
import {
  type Applicant,
  type Delegation,
  decideAdmission,
  decideChain,
  effectiveLimits,
  findExceededLimit,
  needsLiveJobs,
  today,
} from "../../packages/core/src/jobs/admission/decide-admission.ts";
import { dayOf } from "../../packages/core/src/lib/time-zone.ts";
import type { AdmissionSnapshot } from "../../packages/core/src/store/model/admission.ts";
import { type DailySpending, zeroAmounts } from "../../packages/protocol/src/records/spending.ts";
import { inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { liveJob } from "./job-fixture.ts";

const spent = (change: Partial<DailySpending> = {}): DailySpending => ({
  ...{ ...zeroAmounts, reserved_usd: 0, raised: zeroAmounts },
  ...change,
});

const delegated: Delegation = {
  chain: { id: "first", parent: "p", depth: 1, agents: ["a"], max_usd: null },
  isAllowed: true,
  limits: { max_depth: 3, max_jobs: 10, max_cost_usd: 5 },
};
const chainLimit = (message: string, hint: string) => ({ code: "chain_limit", message, hint });

describe("admission", () => {
  const plain: Applicant = { schedule: null, overlap: "skip" };
  const scheduled: Applicant = { schedule: "daily", overlap: "skip" };
  const idle: AdmissionSnapshot = { liveJobs: [] };
  const gate: Outcome = { code: "gate_closed", message: "closed", hint: "wait" };
  const busy = (overlap: Applicant["overlap"], status: "pending" | "running") =>
    decideAdmission({ ...scheduled, overlap }, { liveJobs: [liveJob("1", { status })] });
  const hint = "To change this, set another `overlap` for the schedule.";

  test("names the earlier run and its state that a trigger overlaps with", () => {
    expect(busy("skip", "running")).toEqual({
      kind: "skip",
      outcome: {
        ...{ code: "overlap", hint },
        message: "An earlier run of this schedule (`1`) has not finished.",
      },
    });
    expect(busy("queue", "pending")).toEqual({
      kind: "skip",
      outcome: {
        ...{ code: "overlap", hint },
        message: "An earlier run of this schedule (`1`) has not started.",
      },
    });
  });

  test("stops at a closed gate, and gives the overlap first", () => {
    expect(decideAdmission({ ...plain, gate }, idle)).toEqual({ kind: "skip", outcome: gate });
    const both = { ...scheduled, gate };
    expect(decideAdmission(both, { liveJobs: [liveJob("1")] })).toMatchObject({
      outcome: { code: "overlap" },
    });
  });

  test("cancels what it replaces, also if a later decider sets a limit", () => {
    const applicant: Applicant = {
      ...{ schedule: "daily", overlap: "cancel_running", agent: "b", delegated },
    };
    const snapshot = { liveJobs: [liveJob("1")], chain: { jobs: 1, usd: 2 } };
    expect(decideAdmission(applicant, snapshot)).toEqual({
      ...{ kind: "accept", jobsToCancel: ["1"], maxUsd: 3 },
    });
  });

  test("sets no limit for a job that no agent delegated", () => {
    expect(decideAdmission(plain, idle)).toEqual({ kind: "accept", jobsToCancel: [] });
  });

  test("refuses a delegation by the chain, with the job's reserve and without an agent's name", () => {
    const refused = (change: Partial<Applicant>) =>
      decideAdmission({ ...plain, delegated, ...change }, { ...idle, chain: { jobs: 1, usd: 4 } });
    expect(refused({ agent: "b", reserve: 2 })).toMatchObject({ outcome: { code: "chain_limit" } });
    expect(refused({ agent: "a" })).toMatchObject({ outcome: { code: "chain_limit" } });
    expect(refused({}).kind).toBe("accept");
  });

  test("needs the live jobs only of a schedule whose overlap matters", () => {
    expect(needsLiveJobs(scheduled)).toBe(true);
    expect(needsLiveJobs(plain)).toBe(false);
    expect(needsLiveJobs({ ...scheduled, overlap: "allow" })).toBe(false);
  });

  describe("by budget", () => {
    const budgets = { fleet: { daily_usd: 10 }, agent: { daily_usd: 2 } };
    const decide = (
      agents: [string, DailySpending][],
      fleet: DailySpending,
      change: Partial<Applicant> = {},
    ) =>
      decideAdmission(
        { ...plain, agent: "coder", budgets, ...change },
        { ...idle, spending: { agents: new Map(agents), fleet } },
      );

    test("counts what this agent has spent, then what all have", () => {
      expect(decide([["other", spent({ usd: 9 })]], spent({ usd: 9 })).kind).toBe("accept");
      expect(decide([["coder", spent({ usd: 2.00004 })]], spent())).toEqual({
        kind: "skip",
        outcome: {
          code: "budget_exceeded",
          message: "`coder` has used 2 of 2 (`daily_usd`) today.",
          hint: "Raise it for today with `herdctl budget raise coder --usd …`, or permanently in the configuration.",
        },
      });
      expect(decide([], spent({ usd: 10 }))).toEqual({
        kind: "skip",
        outcome: {
          code: "budget_exceeded",
          message: "The fleet has used 10 of 10 (`daily_usd`) today.",
          hint: "Raise it for today with `herdctl budget raise --usd …`, or permanently in the configuration.",
        },
      });
    });

    test("reserves the job's own limit in both budgets", () => {
      expect(decide([], spent(), { reserve: 2 }).kind).toBe("accept");
      expect(decide([], spent(), { reserve: 2.1 })).toMatchObject({
        outcome: { message: expect.stringContaining("`coder`") },
      });
      expect(decide([], spent({ usd: 8.5 }), { reserve: 2 })).toMatchObject({
        outcome: { message: expect.stringContaining("The fleet") },
      });
    });

    test("is not decided without the spending or without budgets", () => {
      const used = { agents: new Map([["coder", spent({ usd: 99 })]]), fleet: spent({ usd: 99 }) };
      expect(decideAdmission({ ...plain, agent: "coder", budgets }, idle).kind).toBe("accept");
      expect(decideAdmission({ ...plain, agent: "coder" }, { ...idle, spending: used }).kind).toBe(
        "accept",
      );
    });
  });
});

describe("daily budget", () => {
  test("names the first limit that is used up, with the rounded use", () => {
    const all = { daily_usd: 1, daily_jobs: 2, daily_tokens: 3 };
    const used = (change: Partial<DailySpending>, reserve?: number) =>
      findExceededLimit(all, spent(change), reserve);
    expect(used({ usd: 1.23456, reserved_usd: 0.00001, jobs: 9, tokens: 9 })).toEqual({
      ...{ kind: "usd", limit: 1, used: 1.2346 },
    });
    expect(used({ jobs: 2, tokens: 9 })).toEqual({ kind: "jobs", limit: 2, used: 2 });
    expect(used({ tokens: 3 })).toEqual({ kind: "tokens", limit: 3, used: 3 });
    expect(used({ tokens: 2, jobs: 1, usd: 0.9 })).toBeUndefined();
    expect(used({ usd: 0.5 }, 0.5)).toBeUndefined();
    expect(used({ usd: 0.5 }, 0.6)).toMatchObject({ kind: "usd" });
    expect(used({ usd: 1 - 2e-6 })).toBeUndefined();
    expect(used({ usd: 1 - 5e-7 })).toMatchObject({ kind: "usd" });
  });

  test("counts from zero on a day without spending", () => {
    expect(findExceededLimit({ daily_usd: 1 }, undefined, 1)).toBeUndefined();
    expect(findExceededLimit({ daily_usd: 1 }, undefined, 2)).toEqual({
      ...{ kind: "usd", limit: 1, used: 0 },
    });
    expect(findExceededLimit({ daily_jobs: 0 })).toEqual({ kind: "jobs", limit: 0, used: 0 });
  });

  test("adds a raise to each limit that is set", () => {
    const raised = { usd: 0.5, jobs: 1, tokens: 10 };
    expect(effectiveLimits({ daily_usd: 1, daily_jobs: 2, daily_tokens: 3 }, raised)).toEqual({
      ...{ usd: 1.5, jobs: 3, tokens: 13 },
    });
    expect(effectiveLimits({}, raised)).toEqual({});
  });

  test("is for a day in the time zone of the fleet", () => {
    const { fleet } = loadTestFleet(inlineAgent("max_turns: 1"));
    const inKiritimati = { ...fleet, fleet: { ...fleet.fleet, timezone: "Pacific/Kiritimati" } };
    expect(today(inKiritimati)).toEqual(dayOf(new Date(), "Pacific/Kiritimati"));
    expect(today(inKiritimati).name).not.toBe(dayOf(new Date(), "Pacific/Pago_Pago").name);
  });
});

describe("limits of a chain", () => {
  const decide = (change: Partial<Delegation>, usage?: { jobs: number; usd: number }) => {
    const decision = decideChain({ agent: "b" }, { ...delegated, ...change }, usage);
    return decision.kind === "skip" ? decision.outcome : decision.maxUsd;
  };

  test("say how to change what refused a job", () => {
    const path = { ...delegated.chain, agents: ["b", "a"] };
    expect(decide({ isAllowed: false })).toEqual({
      code: "not_allowed",
      message: "`a` may not trigger `b`.",
      hint: "Add it to `may_trigger` to allow this.",
    });
    expect(decide({ chain: path })).toEqual(
      chainLimit(
        "`b` is already in this chain: b → a → b.",
        "Let agents delegate in one direction only.",
      ),
    );
    expect(decide({ chain: { ...delegated.chain, depth: 4 } })).toEqual(
      chainLimit(
        "The chain has reached its maximum depth of 3.",
        "Raise `fleet.chain.max_depth` to allow more.",
      ),
    );
    expect(decide({}, { jobs: 10, usd: 0 })).toEqual(
      chainLimit("The chain already has 10 jobs.", "Raise `fleet.chain.max_jobs` to allow more."),
    );
    expect(decide({}, { jobs: 1, usd: 5.00001 })).toEqual(
      chainLimit(
        "The chain has used 5 of 5 dollars.",
        "Raise `fleet.chain.max_cost_usd` to allow more.",
      ),
    );
    expect(decide({ deadlock: "It would never start." })).toEqual(
      chainLimit("It would never start.", "Raise `max_concurrent` of the agents, or do not wait."),
    );
  });

  test("leave the whole amount to the first job, and a rest above rounding errors", () => {
    expect(decide({})).toBe(5);
    expect(decide({}, { jobs: 1, usd: 5 - 2e-6 })).toBeCloseTo(2e-6, 9);
    expect(decide({}, { jobs: 1, usd: 5 - 5e-7 })).toMatchObject({ code: "chain_limit" });
  });
});

describe("deadlock check", () => {
  const limits = new Map([["b", 2]]);
  const asking = liveJob("asking", { agent: "a", status: "running" });
  const waiting = (id: string, agent: string, waits_for: string[]) =>
    liveJob(id, { agent, status: "waiting", waits_for });

  test("counts the slots of the agent, one without a configuration", () => {
    const first = waiting("1", "b", ["asking"]);
    const second = waiting("2", "b", ["asking"]);
    expect(canStartWhileWaiting("b", "asking", [asking, first], limits)).toBe(true);
    expect(canStartWhileWaiting("b", "asking", [asking, first, second], limits)).toBe(false);
    expect(canStartWhileWaiting("b", "asking", [asking, first], new Map())).toBe(false);
    expect(canStartWhileWaiting("c", "asking", [asking, first], new Map())).toBe(true);
  });

  test("lets a job finish that waits for jobs that are gone or can finish", () => {
    const gone = waiting("1", "b", ["finished"]);
    expect(canStartWhileWaiting("b", "asking", [asking, gone], new Map())).toBe(true);
    const chain = [
      waiting("1", "b", ["2"]),
      waiting("2", "c", ["3"]),
      liveJob("3", { agent: "d" }),
    ];
    expect(canStartWhileWaiting("b", "asking", [asking, ...chain], new Map())).toBe(true);
    const mixed = waiting("1", "b", ["finished", "asking"]);
    expect(canStartWhileWaiting("b", "asking", [asking, mixed], new Map())).toBe(false);
  });

  test("keeps what the asking job already waits for", () => {
    const both = [waiting("asking", "a", ["1"]), waiting("1", "b", ["asking"])];
    expect(canStartWhileWaiting("c", "asking", both, new Map())).toBe(true);
    expect(canStartWhileWaiting("b", "asking", both, new Map())).toBe(false);
  });
});
