import type { Job } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { chooseHooks, findHook } from "../../packages/core/src/hooks/choose.ts";
import { nextTry } from "../../packages/core/src/hooks/next-try.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";
import { finishedJob, outcomeOf } from "./finished-job.ts";

function agentWith(hooks: string) {
  return agentOf(load(inlineAgent(`hooks:\n${hooks.replace(/^/gm, "  ")}`)), "one");
}

const both = () =>
  agentWith(`after_run: [{ type: shell, command: a }]
on_error: [{ type: shell, command: e }]`);

describe("which hooks a job calls for", () => {
  test.each<[Job["status"], NonNullable<Job["outcome"]>["code"], string[]]>([
    ["completed", "success", ["after_run"]],
    ["completed", "finished_with_denials", ["after_run"]],
    ["failed", "timeout", ["after_run", "on_error"]],
    ["cancelled", "cancelled", ["after_run"]],
    ["skipped", "overlap", []],
    ["skipped", "gate_closed", []],
  ])("%s with %s", (status, code, events) => {
    const called = chooseHooks(finishedJob({ status, outcome: outcomeOf(code) }), both());
    expect(called.map(({ event }) => event)).toEqual(events);
  });

  test("`on` names the codes, also those that would call for nothing by themselves", () => {
    const agent = agentWith(`after_run: [{ type: shell, command: a, on: [overlap, success] }]
on_error: [{ type: shell, command: e, on: [cancelled, success] }]`);
    const called = (status: Job["status"], code: NonNullable<Job["outcome"]>["code"]) =>
      chooseHooks(finishedJob({ status, outcome: outcomeOf(code) }), agent).map(
        ({ event }) => event,
      );
    expect(called("skipped", "overlap")).toEqual(["after_run"]);
    expect(called("skipped", "gate_closed")).toEqual([]);
    expect(called("failed", "timeout")).toEqual([]);
    expect(called("cancelled", "cancelled")).toEqual(["on_error"]);
    expect(called("completed", "success")).toEqual(["after_run"]);
  });

  test("`when` has the last word", () => {
    const agent = agentWith(
      'after_run: [{ type: shell, command: a, when: "metadata.price < 20 and cost_usd < 1" }]',
    );
    expect(chooseHooks(finishedJob({ metadata: { price: 10 } }), agent)).toHaveLength(1);
    expect(chooseHooks(finishedJob({ metadata: { price: 30 } }), agent)).toHaveLength(0);
    expect(chooseHooks(finishedJob({ metadata: null }), agent)).toHaveLength(0);
  });

  test("a hook is found again though it moved, and not when it was changed", () => {
    const [called] = chooseHooks(finishedJob(), both());
    const run = { ...called, id: "hook-1", job_id: "job-1" } as Parameters<typeof findHook>[1];
    const moved = agentWith(`after_run:
  - { type: shell, command: first }
  - { type: shell, command: a, timeout: 5s }`);
    expect(findHook(moved, run)).toMatchObject({ command: "a" });
    expect(findHook(agentWith("after_run: [{ type: shell, command: b }]"), run)).toBeUndefined();
    expect(findHook(undefined, run)).toBeUndefined();
  });
});

describe("what follows an attempt", () => {
  const now = new Date("2026-03-01T09:00:00Z");
  const retry = { max_attempts: 3, backoff: 10_000 };
  const failure = { ok: false as const, message: "exit 1", output: "", mayPass: true };

  test("a success is over; a failure waits ever longer and is given up in the end", () => {
    expect(nextTry({ ok: true, message: "", output: "" }, 1, retry, now).status).toBe("succeeded");
    expect(nextTry(failure, 1, retry, now)).toMatchObject({ due_at: "2026-03-01T09:00:10.000Z" });
    expect(nextTry(failure, 2, retry, now)).toMatchObject({ due_at: "2026-03-01T09:00:40.000Z" });
    expect(nextTry(failure, 3, retry, now).status).toBe("failed");
    expect(nextTry({ ...failure, mayPass: false }, 1, retry, now).status).toBe("failed");
  });

  test("who asks for patience gets it, within reason", () => {
    const asked = nextTry({ ...failure, retryAfter: 60_000 }, 1, retry, now);
    expect(asked).toMatchObject({ due_at: "2026-03-01T09:01:00.000Z" });
    const year = nextTry({ ...failure, retryAfter: 1e12 }, 1, retry, now);
    expect(year).toMatchObject({ due_at: "2026-03-01T15:00:00.000Z" });
  });
});
