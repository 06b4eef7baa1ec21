import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFinished, type JobStatus } from "../../packages/protocol/src/records/job-status.ts";
import type { OutcomeCode } from "../../packages/protocol/src/records/outcome.ts";
import { sampleCount } from "../support/test-subset.ts";
import { openStores } from "./test-stores.ts";

const outcome = (code: OutcomeCode) => ({ code, message: "what happened", hint: "what to do" });

describe("creating a job", () => {
  test("fills in all fields, an id with the date, and defaults", async () => {
    const { jobs } = await openStores();
    const { job, created } = await jobs.create({
      agent: "coder",
      prompt: "Fix it.",
      schedule: undefined,
    });
    expect(created).toBe(true);
    expect(job).toEqual({
      id: expect.stringMatching(/^job-2030-01-01-[0-9a-z]{10}$/),
      agent: "coder",
      prompt: "Fix it.",
      trigger_type: "manual",
      triggered_by: null,
      expand_prompt: false,
      git: null,
      schedule: null,
      priority: 0,
      idempotency_key: null,
      resumed_from: null,
      forked_from: null,
      fork_point: null,
      node: null,
      assigned: null,
      reserved_usd: null,
      status: "pending",
      outcome: null,
      session_id: null,
      summary: null,
      cost_usd: null,
      usage: null,
      runtime: null,
      session_home: null,
      credential: null,
      provider: null,
      container_id: null,
      container_image: null,
      claude_version: null,
      metadata: null,
      report: null,
      artifacts: [],
      chain: { id: job.id, parent: null, depth: 0, agents: [], max_usd: null },
      waits_for: [],
      untrusted: false,
      warnings: [],
      runner: null,
      due_at: null,
      attempts: 0,
      crashes: 0,
      created_at: "2030-01-01T00:00:00.000Z",
      started_at: null,
      finished_at: null,
      duration_seconds: null,
      output_file: `/state/jobs/${job.id}/output.jsonl`,
    });
    expect(await jobs.get(job.id)).toEqual(job);
  });

  test("returns the first job for the same key, even after it finished", async () => {
    const { jobs } = await openStores();
    const request = { agent: "coder", prompt: "once", idempotency_key: "delivery-7" };
    const all = await Promise.all(Array.from({ length: 100 }, () => jobs.create(request)));
    expect(new Set(all.map(({ job }) => job.id)).size).toBe(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    const id = all[0]?.job.id ?? "";
    await jobs.update(id, { status: "cancelled", outcome: outcome("cancelled") });
    expect((await jobs.create(request)).job).toMatchObject({ id, status: "cancelled" });
    expect((await jobs.findByKey("delivery-7"))?.id).toBe(id);
    expect(await jobs.findByKey("delivery-8")).toBeUndefined();
  });

  test("records a refusal as a final job", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "a", prompt: "p", skipped: outcome("overlap") });
    expect(job).toMatchObject({ status: "skipped", finished_at: job.created_at });
    expect(await jobs.startAttempt(job.id)).toMatchObject({ applied: false });
    expect(await jobs.listAttempts(job.id)).toEqual([]);
  });

  test("ends only jobs that are not running when many are ended together", async () => {
    const { jobs } = await openStores();
    const cancelled = { status: "cancelled" as const, outcome: outcome("cancelled"), due_at: null };
    const created = await Promise.all(
      ["one", "two", "three"].map((prompt) => jobs.create({ agent: "coder", prompt })),
    );
    const [running, ...waiting] = created.map(({ job }) => job.id);
    await jobs.startAttempt(running ?? "");
    const ends = await Promise.all(
      [running ?? "", ...waiting].map((id) => jobs.endWaiting(id, cancelled)),
    );
    expect(ends.map(({ applied, job }) => [applied, job.status])).toEqual([
      [false, "running"],
      [true, "cancelled"],
      [true, "cancelled"],
    ]);
    expect(await jobs.endWaiting(waiting[0] ?? "", cancelled)).toMatchObject({ applied: false });
  });

  test("returns any text unchanged", async () => {
    const { jobs } = await openStores();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (prompt) => {
        const { job } = await jobs.create({ agent: "coder", prompt });
        expect((await jobs.get(job.id))?.prompt).toBe(prompt);
      }),
    );
  });

  test("refuses an unsafe id, a used id and unknown fields", async () => {
    const { jobs } = await openStores();
    const create = (extra: object) => jobs.create({ agent: "a", prompt: "p", ...extra });
    await expect(create({ id: "../../etc" })).rejects.toMatchObject({ code: "job_not_found" });
    await create({ id: "mine" });
    await expect(create({ id: "mine" })).rejects.toMatchObject({ code: "usage" });
    await expect(create({ promt: "typo" })).rejects.toThrow(/promt/);
    await expect(create({ idempotency_key: "" })).rejects.toThrow();
  });
});

describe("changing a job", () => {
  test("sets the times by the status", async () => {
    const { jobs, time } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    time.now += 1_000;
    await jobs.startAttempt(job.id, { runtime: "sdk", session_home: "sdk", session_id: undefined });
    time.now += 2_500;
    const { job: done } = await jobs.update(job.id, {
      status: "completed",
      outcome: outcome("success"),
      summary: "Done.",
      cost_usd: 0.5,
    });
    expect(done).toMatchObject({
      started_at: "2030-01-01T00:00:01.000Z",
      finished_at: "2030-01-01T00:00:03.500Z",
      duration_seconds: 2.5,
      attempts: 1,
      runtime: "sdk",
      session_id: null,
    });
    expect(await jobs.get(job.id)).toEqual(done);
  });

  test("rejects a second end of a finished job", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    await jobs.startAttempt(job.id);
    const end = { status: "failed", outcome: outcome("timeout") } as const;
    const first = await jobs.update(job.id, end);
    expect(first.applied).toBe(true);
    const late = await jobs.update(job.id, { status: "completed", outcome: outcome("success") });
    expect(late).toEqual({ applied: false, job: first.job });
    expect(await jobs.update(job.id, { summary: "later" })).toMatchObject({ applied: false });
  });

  test("clears the reason for waiting when a job runs again", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    await jobs.startAttempt(job.id);
    const limit = { ...outcome("usage_limit"), resets_at: "2030-01-01T05:00:00.000Z" };
    await jobs.update(job.id, { status: "waiting", outcome: limit });
    expect((await jobs.update(job.id, { warnings: ["slow"] })).job.outcome).toEqual(limit);
    const { job: again } = await jobs.startAttempt(job.id);
    expect(again).toMatchObject({ status: "running", outcome: null, attempts: 2 });
  });

  test("keeps the due time only while the job waits", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    const due_at = "2030-01-01T05:00:00.000Z";
    expect((await jobs.update(job.id, { due_at })).job.due_at).toBe(due_at);
    expect((await jobs.update(job.id, { warnings: ["w"] })).job.due_at).toBe(due_at);
    expect((await jobs.startAttempt(job.id)).job.due_at).toBeNull();
    expect((await jobs.update(job.id, { due_at })).job.due_at).toBeNull();
    const waiting = { status: "waiting", outcome: outcome("network"), due_at } as const;
    expect((await jobs.update(job.id, waiting)).job).toMatchObject({ due_at, attempts: 1 });
    const end = { status: "cancelled", outcome: outcome("cancelled") } as const;
    expect((await jobs.update(job.id, end)).job.due_at).toBeNull();
  });

  test("refuses a status with a contradicting outcome", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    await jobs.startAttempt(job.id);
    const update = (status: JobStatus, code?: OutcomeCode) =>
      jobs.update(job.id, { status, outcome: code ? outcome(code) : null });
    await expect(update("completed", "auth_failed")).rejects.toThrow(
      /not an outcome of a completed/,
    );
    await expect(update("failed", "success")).rejects.toThrow(/not an outcome of a failed/);
    await expect(update("failed")).rejects.toThrow(/needs an outcome/);
    await expect(update("running", "success")).rejects.toThrow(/has no outcome yet/);
    await expect(jobs.update("job-none", {})).rejects.toMatchObject({ code: "job_not_found" });
    expect((await jobs.get(job.id))?.status).toBe("running");
  });

  test("starts an assigned job once and only on its node", async () => {
    const { jobs, time } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    const by = { node: "n1", epoch: 2 };
    const at = new Date(time.now).toISOString();
    await jobs.update(job.id, { assigned: { ...by, at } });
    expect((await jobs.update(job.id, { summary: "s" })).job.assigned).toEqual({ ...by, at });
    for (const other of [
      { node: "n2", epoch: 2 },
      { node: "n1", epoch: 1 },
    ]) {
      const refused = await jobs.startAttempt(job.id, {}, undefined, other);
      expect(refused).toMatchObject({ applied: false, job: { status: "pending", attempts: 0 } });
    }
    const begun = await jobs.startAttempt(job.id, {}, undefined, by);
    expect(begun).toMatchObject({ applied: true, job: { node: "n1", assigned: null } });
    expect(await jobs.startAttempt(job.id, {}, undefined, by)).toMatchObject({ applied: false });
  });

  test("keeps the first end of each attempt", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    await jobs.startAttempt(job.id);
    const end = { outcome_code: "network", session_id: "s", cost_usd: 0.2 } as const;
    expect(await jobs.endAttempt(job.id, 1, end)).toMatchObject({ applied: true });
    const late = await jobs.endAttempt(job.id, 1, { ...end, cost_usd: 9 }, { summary: "late" });
    expect(late).toMatchObject({ applied: false, job: { cost_usd: 0.2, summary: null } });
    await jobs.startAttempt(job.id);
    expect(await jobs.listAttempts(job.id)).toMatchObject([
      { number: 1, outcome_code: "network", cost_usd: 0.2 },
      { number: 2, outcome_code: null, finished_at: null },
    ]);
    await expect(jobs.endAttempt(job.id, 3, end)).rejects.toMatchObject({ code: "job_not_found" });
  });

  test("ends an attempt together with the next state of its job, or not at all", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    await jobs.startAttempt(job.id);
    const end = { outcome_code: "success", session_id: "s", cost_usd: 0.2 } as const;
    const wrong = { status: "completed", outcome: outcome("network") } as const;
    await expect(jobs.endAttempt(job.id, 1, end, wrong)).rejects.toThrow(/not an outcome/);
    expect(await jobs.listAttempts(job.id)).toMatchObject([{ finished_at: null }]);
    const right = { status: "completed", outcome: outcome("success") } as const;
    const { job: done } = await jobs.endAttempt(job.id, 1, end, right);
    expect(done).toMatchObject({ status: "completed", cost_usd: 0.2 });
    expect(await jobs.get(job.id)).toEqual(done);
  });

  test("ends the attempt of a job that was ended meanwhile without changing the job", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    await jobs.startAttempt(job.id);
    const cancelled = { status: "cancelled", outcome: outcome("cancelled") } as const;
    const { job: ended } = await jobs.update(job.id, cancelled);
    const end = { outcome_code: "success", session_id: null, cost_usd: 1 } as const;
    const late = { status: "completed", outcome: outcome("success") } as const;
    expect((await jobs.endAttempt(job.id, 1, end, late)).job).toEqual(ended);
    expect(await jobs.listAttempts(job.id)).toMatchObject([{ outcome_code: "success" }]);
  });

  test("adds the cost, usage and crashes of each attempt to the job once", async () => {
    const { jobs } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "p" });
    const used = (tokens: number, model: string) => {
      const counts = {
        input_tokens: tokens,
        output_tokens: 1,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      };
      return { ...counts, models: { [model]: { ...counts, cost_usd: 0.1 } } };
    };
    const end = { outcome_code: "interrupted", session_id: null } as const;
    await jobs.startAttempt(job.id);
    for (const _ of ["once", "again"]) {
      await jobs.endAttempt(job.id, 1, { ...end, cost_usd: null, usage: null, crashed: true });
    }
    expect(await jobs.get(job.id)).toMatchObject({ cost_usd: null, usage: null, crashes: 1 });
    await jobs.startAttempt(job.id);
    await jobs.endAttempt(job.id, 2, { ...end, cost_usd: 0.1, usage: used(5, "small") });
    await jobs.startAttempt(job.id);
    await jobs.endAttempt(job.id, 3, { ...end, cost_usd: 0.2, usage: used(7, "small") });
    await jobs.startAttempt(job.id);
    await jobs.endAttempt(job.id, 4, { ...end, cost_usd: 0.1, usage: used(1, "large") });
    expect(await jobs.get(job.id)).toMatchObject({
      cost_usd: 0.4,
      crashes: 1,
      usage: {
        input_tokens: 13,
        models: { small: { input_tokens: 12, cost_usd: 0.2 }, large: { input_tokens: 1 } },
      },
    });
    const crashed = (await jobs.listAttempts(job.id)).map((attempt) => attempt.crashed);
    expect(crashed).toEqual([true, false, false, false]);
  });

  test("follows the allowed transitions and ends at most once for any sequence of changes", async () => {
    const road = new Set(
      [
        "pending running, pending failed, pending cancelled, pending skipped",
        "running waiting, running completed, running failed, running cancelled",
        "waiting running, waiting completed, waiting failed, waiting cancelled",
      ].flatMap((steps) => steps.split(", ")),
    );
    const ends: Record<string, OutcomeCode> = {
      completed: "success",
      failed: "stalled",
      cancelled: "cancelled",
      skipped: "overlap",
    };
    const { jobs } = await openStores();
    const statuses = fc.constantFrom<JobStatus>(
      ...([
        "pending",
        "running",
        "waiting",
        "completed",
        "failed",
        "cancelled",
        "skipped",
      ] as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(statuses, { maxLength: 12 }), async (wanted) => {
        const { job } = await jobs.create({ agent: "coder", prompt: "p" });
        let model: JobStatus = "pending";
        let endings = 0;
        for (const status of wanted) {
          const code = ends[status];
          const change = { status, outcome: code ? outcome(code) : null };
          const result = await jobs.update(job.id, change).catch(() => undefined);
          const legal = model === status || road.has(`${model} ${status}`);
          const wasFinished = isFinished(model);
          expect(result?.applied).toBe(wasFinished ? false : legal ? true : undefined);
          if (result?.applied) model = status;
          if (result?.applied && code) endings += 1;
        }
        expect((await jobs.get(job.id))?.status).toBe(model);
        expect(endings).toBeLessThanOrEqual(1);
      }),
      { numRuns: sampleCount(200) },
    );
  });
});

test("refuses an invalid limit or cursor", async () => {
  const { jobs } = await openStores();
  for (const limit of [0, -1, 1.5, 1001]) {
    await expect(jobs.list({ limit })).rejects.toMatchObject({ code: "usage" });
  }
  await expect(jobs.list({ limit: 1, cursor: "?" })).rejects.toMatchObject({ code: "usage" });
});
