import { randomUUID } from "node:crypto";
import type { SDKMessage } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { readJobMessages, runJob } from "../support/run-job.ts";

const script = {
  rules: [
    { match: { prompt: "third" }, reply: "Three." },
    { match: { prompt: "second" }, reply: "Two." },
    { reply: "One." },
  ],
};

function lastWords(messages: SDKMessage[]): string {
  const reply = messages.findLast((message) => message.type === "assistant");
  return (reply && "uuid" in reply && String(reply.uuid)) || expect.fail("nothing was said");
}

describe.each([
  ["sdk", "325"],
  ["cli", "325"],
  ["cli", "197"],
] as const)("%s with %s", (runtime, version) => {
  const yaml = `runtime: ${runtime}`;

  test("forks at a message with what came before it and nothing after", async () => {
    const harness = await startHarness({ script });
    const first = await runJob(harness, { yaml, version });
    const resume = first.sessionId;
    await runJob(harness, { yaml, version, resume, prompt: "second" });
    const forkPoint = lastWords(await readJobMessages(first.job));
    const branch = await runJob(harness, {
      yaml,
      version,
      resume,
      fork: true,
      forkPoint,
      prompt: "third",
    });

    expect(branch.job).toMatchObject({
      status: "completed",
      summary: "Three.",
      forked_from: resume,
      fork_point: forkPoint,
    });
    expect(branch.sessionId).not.toBe(resume);
    const asked = JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body);
    expect(asked).toContain("One.");
    expect(asked).not.toContain("Two.");

    await runJob(harness, { yaml, version, resume, prompt: "third" });
    const resumedRequest = JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body);
    expect(resumedRequest).toContain("Two.");
  });
});

test("reports a message outside the session before spending anything", async () => {
  const harness = await startHarness({ script });
  const { sessionId } = await runJob(harness, { yaml: "runtime: cli" });
  const asked = harness.rehearsal.ledger.main.length;
  const forkPoint = randomUUID();
  const { job } = await runJob(harness, {
    yaml: "runtime: cli",
    resume: sessionId,
    fork: true,
    forkPoint,
  });
  expect(job.outcome).toMatchObject({
    code: "session_missing",
    message: `there is no message ${forkPoint} in session ${sessionId}`,
  });
  expect(harness.rehearsal.ledger.main).toHaveLength(asked);
});

test("accepts a message only for a fork", async () => {
  const harness = await startHarness({ script });
  const { sessionId } = await runJob(harness, { yaml: "runtime: cli" });
  const { StateManager } = await import("@herdctl/core/internal");
  const { admit } = await import("../../packages/core/src/jobs/admission/admit.ts");
  const { loadAgent, stateDirOf } = await import("../support/run-job.ts");
  const state = await new StateManager(stateDirOf(harness)).open();
  const request = {
    trigger: "manual" as const,
    agent: "one",
    prompt: "x",
    forkPoint: randomUUID(),
  };
  await expect(
    admit(state, [loadAgent(harness)], { ...request, resume: sessionId }),
  ).rejects.toThrow("only a fork can start at a message");
  await state.close();
});
