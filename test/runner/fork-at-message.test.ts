import { randomUUID } from "node:crypto";
import type { SDKMessage } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { logOf, runJob } from "../support/job.ts";
import { stage } from "../support/stage.ts";

const script = {
  rules: [
    { match: { prompt: "third" }, reply: "Three." },
    { match: { prompt: "second" }, reply: "Two." },
    { reply: "One." },
  ],
};

function lastWords(messages: SDKMessage[]): string {
  const said = messages.findLast((message) => message.type === "assistant");
  return (said && "uuid" in said && String(said.uuid)) || expect.fail("nothing was said");
}

describe.each([
  ["sdk", "325"],
  ["cli", "325"],
  ["cli", "197"],
] as const)("%s with %s", (runtime, version) => {
  const yaml = `runtime: ${runtime}`;

  test("a fork from a message knows what came before it and nothing after", async () => {
    const on = await stage({ script });
    const first = await runJob(on, { yaml, version });
    const resume = first.sessionId;
    await runJob(on, { yaml, version, resume, prompt: "second" });
    const forkAt = lastWords(await logOf(first.job));
    const branch = await runJob(on, { yaml, version, resume, fork: true, forkAt, prompt: "third" });

    expect(branch.job).toMatchObject({
      status: "completed",
      summary: "Three.",
      forked_from: resume,
      fork_point: forkAt,
    });
    expect(branch.sessionId).not.toBe(resume);
    const asked = JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body);
    expect(asked).toContain("One.");
    expect(asked).not.toContain("Two.");

    await runJob(on, { yaml, version, resume, prompt: "third" });
    const goneOn = JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body);
    expect(goneOn).toContain("Two.");
  });
});

test("a message that is not in the session is told before anything is spent", async () => {
  const on = await stage({ script });
  const { sessionId } = await runJob(on, { yaml: "runtime: cli" });
  const asked = on.rehearsal.ledger.main.length;
  const forkAt = randomUUID();
  const { job } = await runJob(on, { yaml: "runtime: cli", resume: sessionId, fork: true, forkAt });
  expect(job.outcome).toMatchObject({
    code: "session_missing",
    message: `there is no message ${forkAt} in session ${sessionId}`,
  });
  expect(on.rehearsal.ledger.main).toHaveLength(asked);
});

test("only a fork can begin at a message", async () => {
  const on = await stage({ script });
  const { sessionId } = await runJob(on, { yaml: "runtime: cli" });
  const { StateManager } = await import("@herdctl/core");
  const { admit } = await import("../../packages/core/src/queue/admit.ts");
  const { agentFor, stateDirOf } = await import("../support/job.ts");
  const state = await new StateManager(stateDirOf(on)).open();
  const request = { trigger: "manual" as const, agent: "one", prompt: "x", forkAt: randomUUID() };
  await expect(admit(state, [agentFor(on)], { ...request, resume: sessionId })).rejects.toThrow(
    "only a fork can begin at a message",
  );
  await state.close();
});
