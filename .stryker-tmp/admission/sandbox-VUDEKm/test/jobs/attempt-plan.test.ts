import { describe, expect, test } from "vitest";
import {
  type PriorAttempts,
  planAttempt,
} from "../../packages/core/src/jobs/attempts/attempt-plan.ts";

const trace: PriorAttempts = {
  sessionId: "s",
  messageCount: 3,
  hasTask: true,
  lastOutcome: "usage_limit",
};
const task = "Fix the tests.\nThen say so.";

describe("prompt of an attempt", () => {
  test.each([
    ["the first attempt", undefined],
    ["an attempt after one without any message", { ...trace, messageCount: 0 }],
  ])("keeps the prompt unchanged for %s", (_which, left) => {
    expect(planAttempt(task, left)).toEqual({ kind: "as_asked", prompt: task });
  });

  test("continues the session with the reason and without repeating the task", () => {
    const plan = planAttempt(task, trace);
    expect(plan).toMatchObject({ kind: "continue", sessionId: "s" });
    expect(plan.prompt).toContain("The usage limit is reached.");
    expect(plan.prompt).not.toContain("Fix the tests");
  });

  test("quotes the task when the session no longer contains it", () => {
    const { prompt } = planAttempt(task, { ...trace, hasTask: false });
    expect(prompt).toContain("> Fix the tests.\n> Then say so.");
    expect(prompt).toContain("do not repeat it");
  });
});
