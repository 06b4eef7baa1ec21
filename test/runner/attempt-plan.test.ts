import { describe, expect, test } from "vitest";
import { planAttempt, type Trace } from "../../packages/core/src/runner/attempt-plan.ts";

const trace: Trace = { sessionId: "s", messages: 3, holdsTask: true, ended: "usage_limit" };
const task = "Fix the tests.\nThen say so.";

describe("an attempt", () => {
  test.each([
    ["that is the first", undefined],
    ["after one that left no message", { ...trace, messages: 0 }],
  ])("%s does as was asked", (_which, left) => {
    expect(planAttempt(task, left)).toEqual({ kind: "as_asked", prompt: task });
  });

  test("goes on in the session, says why, and does not give the task again", () => {
    const plan = planAttempt(task, trace);
    expect(plan).toMatchObject({ kind: "go_on", sessionId: "s" });
    expect(plan.prompt).toContain("The usage limit is reached.");
    expect(plan.prompt).not.toContain("Fix the tests");
  });

  test("quotes the task when the model can no longer read it in the session", () => {
    const { prompt } = planAttempt(task, { ...trace, holdsTask: false });
    expect(prompt).toContain("> Fix the tests.\n> Then say so.");
    expect(prompt).toContain("do not do again");
  });
});
