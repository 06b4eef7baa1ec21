import { describe, expect, test } from "vitest";
import {
  decideAdmission,
  findExceededLimit,
} from "../../packages/core/src/jobs/admission/decide-admission.ts";
import { dayOf } from "../../packages/core/src/lib/time-zone.ts";
import { type DailySpending, zeroAmounts } from "../../packages/protocol/src/records/spending.ts";
import { memoryStores } from "../store/test-stores.ts";

function spentAmounts(more: Partial<DailySpending> = {}): DailySpending {
  return { ...zeroAmounts, reserved_usd: 0, raised: zeroAmounts, ...more };
}

describe("budget decision", () => {
  const cases: [string, Parameters<typeof findExceededLimit>, kind: string | undefined][] = [
    ["admits without limits", [{}, spentAmounts({ usd: 1e9 })], undefined],
    ["admits with nothing spent", [{ daily_usd: 1, daily_jobs: 1, daily_tokens: 1 }], undefined],
    ["admits while something is left", [{ daily_usd: 1 }, spentAmounts({ usd: 0.99 })], undefined],
    ["refuses when it is used up", [{ daily_usd: 1 }, spentAmounts({ usd: 1 })], "usd"],
    [
      "refuses when only rounding noise is left",
      [{ daily_usd: 0.3 }, spentAmounts({ usd: 0.1 + 0.2 - 1e-12 })],
      "usd",
    ],
    [
      "counts reserved costs",
      [{ daily_usd: 1 }, spentAmounts({ usd: 0.5, reserved_usd: 0.5 })],
      "usd",
    ],
    ["reserves what a job may cost", [{ daily_usd: 1 }, spentAmounts({ usd: 0.6 }), 0.5], "usd"],
    ["admits a job that just fits", [{ daily_usd: 1 }, spentAmounts({ usd: 0.5 }), 0.5], undefined],
    ["ignores rounding errors", [{ daily_usd: 1 }, spentAmounts({ usd: 0.9 }), 0.1], undefined],
    ["limits jobs", [{ daily_jobs: 3 }, spentAmounts({ jobs: 3 })], "jobs"],
    ["limits tokens", [{ daily_tokens: 100 }, spentAmounts({ tokens: 100 })], "tokens"],
    [
      "honors a raise for the day",
      [{ daily_jobs: 3 }, spentAmounts({ jobs: 3, raised: { ...zeroAmounts, jobs: 1 } })],
      undefined,
    ],
    [
      "ignores a raise of a missing limit",
      [{}, spentAmounts({ jobs: 9, raised: { ...zeroAmounts, jobs: 1 } })],
      undefined,
    ],
  ];
  test.each(cases)("%s", (_, given, kind) => {
    expect(findExceededLimit(...given)?.kind).toBe(kind);
  });

  test("applies the fleet's budget to every agent, with the command to raise it in each refusal", () => {
    const applicant = { agent: "coder", schedule: null, overlap: "allow" as const };
    const spending = {
      agents: new Map([["coder", spentAmounts({ jobs: 2 })]]),
      fleet: spentAmounts({ jobs: 5 }),
    };
    const decide = (fleet: object, agent: object) =>
      decideAdmission({ ...applicant, budgets: { fleet, agent } }, { liveJobs: [], spending });
    expect(decide({ daily_jobs: 6 }, { daily_jobs: 3 }).kind).toBe("accept");
    expect(decide({}, { daily_jobs: 2 })).toMatchObject({
      outcome: {
        code: "budget_exceeded",
        hint: expect.stringContaining("budget raise coder --jobs"),
      },
    });
    expect(decide({ daily_jobs: 5 }, { daily_jobs: 3 })).toMatchObject({
      outcome: { code: "budget_exceeded", hint: expect.stringContaining("budget raise --jobs") },
    });
  });
});

test("starts a day at local midnight, also when a clock change skips midnight", () => {
  const day = (now: string, timezone: string) => {
    const { name, start } = dayOf(new Date(now), timezone);
    return `${name} ${start.toISOString()}`;
  };
  expect(day("2026-03-29T12:00:00Z", "UTC")).toBe("2026-03-29 2026-03-29T00:00:00.000Z");
  expect(day("2026-03-29T23:30:00Z", "Europe/Berlin")).toBe("2026-03-30 2026-03-29T22:00:00.000Z");
  expect(day("2026-06-01T02:00:00Z", "America/New_York")).toBe(
    "2026-05-31 2026-05-31T04:00:00.000Z",
  );
  expect(day("2018-11-04T12:00:00Z", "America/Sao_Paulo")).toBe(
    "2018-11-04 2018-11-04T03:00:00.000Z",
  );
});

test("counts spending from jobs and attempts: skipped jobs are free, running ones are reserved", async () => {
  const { jobs, budgets, time } = memoryStores();
  const today = dayOf(new Date(time.now), "UTC");
  const usage = {
    ...{ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 2 },
    ...{ cache_creation_input_tokens: 3, models: {} },
  };
  const { job } = await jobs.create({ agent: "a", prompt: "p", reserved_usd: 2 });
  await jobs.create({ agent: "b", prompt: "p", reserved_usd: 1 });
  await jobs.create({
    agent: "b",
    prompt: "p",
    skipped: { code: "overlap", message: "m", hint: "h" },
  });
  const reserved = async () => (await budgets.getSpending(today)).fleet.reserved_usd;
  expect(await reserved()).toBe(3);
  await jobs.startAttempt(job.id);
  const end = { outcome_code: "network" as const, session_id: null, cost_usd: 0.5, usage };
  const outcome = { code: "network" as const, message: "m", hint: "h" };
  await jobs.endAttempt(job.id, 1, end, { status: "waiting", outcome });
  expect(await reserved()).toBe(2.5);
  await jobs.update(job.id, { status: "failed", outcome });
  const { agents, fleet } = await budgets.getSpending(today);
  expect(fleet).toEqual({ usd: 0.5, jobs: 2, tokens: 20, reserved_usd: 1, raised: zeroAmounts });
  expect(agents.get("a")).toMatchObject({ usd: 0.5, jobs: 1, tokens: 20, reserved_usd: 0 });

  await budgets.raise(today, "a", { usd: 5 });
  await budgets.raise(today, "a", { usd: 1, jobs: 2 });
  await budgets.raise(today, undefined, { tokens: 7 });
  const raised = await budgets.getSpending(today);
  expect(raised.agents.get("a")?.raised).toEqual({ usd: 6, jobs: 2, tokens: 0 });
  expect(raised.fleet.raised).toEqual({ usd: 0, jobs: 0, tokens: 7 });

  time.now += 24 * 3_600_000;
  const tomorrow = await budgets.getSpending(dayOf(new Date(time.now), "UTC"));
  expect(tomorrow.fleet).toEqual({
    usd: 0,
    jobs: 0,
    tokens: 0,
    reserved_usd: 1,
    raised: zeroAmounts,
  });
});
