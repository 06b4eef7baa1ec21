import { describe, expect, test } from "vitest";
import { overBudget } from "../../packages/core/src/queue/budget.ts";
import { decideAdmission } from "../../packages/core/src/queue/decide-admission.ts";
import { nothing, type Spent } from "../../packages/core/src/state/spending.ts";
import { dayOf } from "../../packages/core/src/triggers/schedule/day.ts";
import { memoryStores } from "../state/support.ts";

function spent(more: Partial<Spent> = {}): Spent {
  return { ...nothing, reserved_usd: 0, raised: nothing, ...more };
}

describe("a budget", () => {
  const cases: [string, Parameters<typeof overBudget>, kind: string | undefined][] = [
    ["without limits lets all in", [{}, spent({ usd: 1e9 })], undefined],
    ["of nothing spent lets in", [{ daily_usd: 1, daily_jobs: 1, daily_tokens: 1 }], undefined],
    ["lets in while something is left", [{ daily_usd: 1 }, spent({ usd: 0.99 })], undefined],
    ["is used up", [{ daily_usd: 1 }, spent({ usd: 1 })], "usd"],
    ["is used up but for noise", [{ daily_usd: 0.3 }, spent({ usd: 0.1 + 0.2 - 1e-12 })], "usd"],
    ["counts what is held", [{ daily_usd: 1 }, spent({ usd: 0.5, reserved_usd: 0.5 })], "usd"],
    ["holds what a job may cost", [{ daily_usd: 1 }, spent({ usd: 0.6 }), 0.5], "usd"],
    ["lets in what just fits", [{ daily_usd: 1 }, spent({ usd: 0.5 }), 0.5], undefined],
    ["of jobs", [{ daily_jobs: 3 }, spent({ jobs: 3 })], "jobs"],
    ["of tokens", [{ daily_tokens: 100 }, spent({ tokens: 100 })], "tokens"],
    [
      "is raised for a day",
      [{ daily_jobs: 3 }, spent({ jobs: 3, raised: { ...nothing, jobs: 1 } })],
      undefined,
    ],
    [
      "that is not there cannot be raised",
      [{}, spent({ jobs: 9, raised: { ...nothing, jobs: 1 } })],
      undefined,
    ],
  ];
  test.each(cases)("%s", (_, given, kind) => {
    expect(overBudget(...given)?.kind).toBe(kind);
  });

  test("of the fleet holds for every agent, and each refusal says how to raise it", () => {
    const applicant = { agent: "coder", schedule: null, overlap: "allow" as const };
    const spending = {
      agents: new Map([["coder", spent({ jobs: 2 })]]),
      fleet: spent({ jobs: 5 }),
    };
    const decide = (fleet: object, agent: object) =>
      decideAdmission({ ...applicant, budgets: { fleet, agent } }, { live: [], spending });
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

test("a day begins at midnight where the fleet is, also when midnight is leapt over", () => {
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

test("what is spent is counted from jobs and attempts: skipped ones are free, running ones are held", async () => {
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
  const reserved = async () => (await budgets.spending(today)).fleet.reserved_usd;
  expect(await reserved()).toBe(3);
  await jobs.startAttempt(job.id);
  const end = { outcome_code: "network" as const, session_id: null, cost_usd: 0.5, usage };
  const outcome = { code: "network" as const, message: "m", hint: "h" };
  await jobs.endAttempt(job.id, 1, end, { status: "waiting", outcome });
  expect(await reserved()).toBe(2.5);
  await jobs.update(job.id, { status: "failed", outcome });
  const { agents, fleet } = await budgets.spending(today);
  expect(fleet).toEqual({ usd: 0.5, jobs: 2, tokens: 20, reserved_usd: 1, raised: nothing });
  expect(agents.get("a")).toMatchObject({ usd: 0.5, jobs: 1, tokens: 20, reserved_usd: 0 });

  await budgets.raise(today, "a", { usd: 5 });
  await budgets.raise(today, "a", { usd: 1, jobs: 2 });
  await budgets.raise(today, undefined, { tokens: 7 });
  const raised = await budgets.spending(today);
  expect(raised.agents.get("a")?.raised).toEqual({ usd: 6, jobs: 2, tokens: 0 });
  expect(raised.fleet.raised).toEqual({ usd: 0, jobs: 0, tokens: 7 });

  time.now += 24 * 3_600_000;
  const tomorrow = await budgets.spending(dayOf(new Date(time.now), "UTC"));
  expect(tomorrow.fleet).toEqual({ usd: 0, jobs: 0, tokens: 0, reserved_usd: 1, raised: nothing });
});
