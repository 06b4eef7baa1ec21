import type { Job } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { nextHookState } from "../../packages/core/src/hooks/hook-worker.ts";
import { findHook, selectHooks } from "../../packages/core/src/hooks/select-hooks.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { finishedJob, outcomeOf } from "./finished-job.ts";

function agentWith(hooks: string) {
  return agentOf(loadTestFleet(inlineAgent(`hooks:\n${hooks.replace(/^/gm, "  ")}`)), "one");
}

const agentWithBothHooks = () =>
  agentWith(`after_run: [{ type: shell, command: a }]
on_error: [{ type: shell, command: e }]`);

describe("selection of hooks for a job", () => {
  test.each<[Job["status"], NonNullable<Job["outcome"]>["code"], string[]]>([
    ["completed", "success", ["after_run"]],
    ["completed", "finished_with_denials", ["after_run"]],
    ["failed", "timeout", ["after_run", "on_error"]],
    ["cancelled", "cancelled", ["after_run"]],
    ["skipped", "overlap", []],
    ["skipped", "gate_closed", []],
  ])("selects for %s the hooks %s", (status, code, events) => {
    const called = selectHooks(
      finishedJob({ status, outcome: outcomeOf(code) }),
      agentWithBothHooks(),
    );
    expect(called.map(({ event }) => event)).toEqual(events);
  });

  test("honors `on`, also for codes that trigger no hook by default", () => {
    const agent = agentWith(`after_run: [{ type: shell, command: a, outcomes: [overlap, success] }]
on_error: [{ type: shell, command: e, outcomes: [cancelled, success] }]`);
    const called = (status: Job["status"], code: NonNullable<Job["outcome"]>["code"]) =>
      selectHooks(finishedJob({ status, outcome: outcomeOf(code) }), agent).map(
        ({ event }) => event,
      );
    expect(called("skipped", "overlap")).toEqual(["after_run"]);
    expect(called("skipped", "gate_closed")).toEqual([]);
    expect(called("failed", "timeout")).toEqual([]);
    expect(called("cancelled", "cancelled")).toEqual(["on_error"]);
    expect(called("completed", "success")).toEqual(["after_run"]);
  });

  test("decides by `when` last", () => {
    const agent = agentWith(
      'after_run: [{ type: shell, command: a, when: "metadata.price < 20 and cost_usd < 1" }]',
    );
    expect(selectHooks(finishedJob({ metadata: { price: 10 } }), agent)).toHaveLength(1);
    expect(selectHooks(finishedJob({ metadata: { price: 30 } }), agent)).toHaveLength(0);
    expect(selectHooks(finishedJob({ metadata: null }), agent)).toHaveLength(0);
  });

  test("finds a hook that was moved, but not one that was changed", () => {
    const [called] = selectHooks(finishedJob(), agentWithBothHooks());
    const run = { ...called, id: "hook-1", job_id: "job-1" } as Parameters<typeof findHook>[1];
    const moved = agentWith(`after_run:
  - { type: shell, command: first }
  - { type: shell, command: a, timeout: 5s }`);
    expect(findHook(moved, run)).toMatchObject({ command: "a" });
    expect(findHook(agentWith("after_run: [{ type: shell, command: b }]"), run)).toBeUndefined();
    expect(findHook(undefined, run)).toBeUndefined();
  });
});

describe("next step after an attempt", () => {
  const now = new Date("2026-03-01T09:00:00Z");
  const retry = { max_attempts: 3, backoff: 10_000 };
  const failure = { ok: false as const, message: "exit 1", output: "", isTransient: true };

  test("succeeds, or retries with growing delays and gives up in the end", () => {
    expect(nextHookState({ ok: true, message: "", output: "" }, 1, retry, now).status).toBe(
      "succeeded",
    );
    expect(nextHookState(failure, 1, retry, now)).toMatchObject({
      due_at: "2026-03-01T09:00:10.000Z",
    });
    expect(nextHookState(failure, 2, retry, now)).toMatchObject({
      due_at: "2026-03-01T09:00:40.000Z",
    });
    expect(nextHookState(failure, 3, retry, now).status).toBe("failed");
    expect(nextHookState({ ...failure, isTransient: false }, 1, retry, now).status).toBe("failed");
  });

  test("honors a requested delay within limits", () => {
    const asked = nextHookState({ ...failure, retryAfterMs: 60_000 }, 1, retry, now);
    expect(asked).toMatchObject({ due_at: "2026-03-01T09:01:00.000Z" });
    const year = nextHookState({ ...failure, retryAfterMs: 1e12 }, 1, retry, now);
    expect(year).toMatchObject({ due_at: "2026-03-01T15:00:00.000Z" });
  });
});
