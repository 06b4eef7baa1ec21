import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AgentRunner, StateManager } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import { sessionFilePath } from "../../packages/core/src/claude/session-files/session-file-path.ts";
import { claudeBinary } from "../support/claude-binaries.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { loadAgent, runJob, stateDirOf } from "../support/run-job.ts";
import { testSubset } from "../support/test-subset.ts";

const chatty = {
  script: { rules: [{ match: { prompt: "second" }, reply: "Two." }, { reply: "One." }] },
};

function transcriptOf(harness: TestHarness, sessionId: string): string {
  return sessionFilePath(
    { place: "cli", configDir: harness.configDir, cwd: harness.workspace },
    sessionId,
  );
}

describe.each(testSubset(["cli", "sdk"], 1))("%s", (runtime) => {
  const yaml = `runtime: ${runtime}`;

  test("resumes in the same session and forks into a new one, with costs as differences", async () => {
    const harness = await startHarness(chatty);
    const agent = loadAgent(harness, yaml);
    const environment = harness.env;
    const claudePath = claudeBinary("325");
    const runner = new AgentRunner(stateDirOf(harness), { environment, claudePath });
    const first = await runner.run({ agent, prompt: "first" });
    const second = await runner.resume(first.sessionId, "second");
    const branch = await runner.fork(first.sessionId, "second");
    expect(second.sessionId).toBe(first.sessionId);
    expect(branch.sessionId).not.toBe(first.sessionId);
    expect([first, second, branch].map((one) => one.summary)).toEqual(["One.", "Two.", "Two."]);

    const [cost1, cost2, cost3] = [first, second, branch].map((one) => one.job?.cost_usd ?? 0);
    expect(cost1).toBeGreaterThan(0);
    const tokens = harness.rehearsal.ledger.main.map((entry) => entry.usage?.input_tokens ?? 0);
    expect(second.job?.usage?.input_tokens).toBe(tokens[1]);
    expect(branch.job?.usage?.input_tokens).toBe(tokens[2]);
    expect(cost2).toBeLessThan((cost1 ?? 0) * 2);
    expect(cost3).toBeGreaterThan(0);
  });

  test("resumes a session by hand where the agent stopped", async () => {
    const harness = await startHarness(chatty);
    const { sessionId } = await runJob(harness, { yaml });
    const byHand = await harness.claude("325", ["second", "--resume", sessionId]);
    expect(byHand.result).toMatchObject({ result: "Two.", session_id: sessionId });
    const after = await runJob(harness, { yaml, resume: sessionId, prompt: "second" });
    expect(after.job.session_id).toBe(sessionId);
    expect(JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body)).toContain("One.");
  });

  test("resumes a persistent session until it expires or is lost", async () => {
    const harness = await startHarness(chatty);
    const persistent = `${yaml}\nsession: { mode: persistent, expires: 1h }`;
    const first = await runJob(harness, { yaml: persistent });
    const second = await runJob(harness, { yaml: persistent });
    expect(second.sessionId).toBe(first.sessionId);
    writeFileSync(transcriptOf(harness, first.sessionId), "");
    const { unlinkSync } = await import("node:fs");
    unlinkSync(transcriptOf(harness, first.sessionId));
    const third = await runJob(harness, { yaml: persistent });
    expect(third.sessionId).not.toBe(first.sessionId);
    expect(third.job.warnings.join()).toContain("transcript");
  });

  test("makes one of two concurrent runs of a session wait, so that the transcript stays a chain", async () => {
    const harness = await startHarness(chatty);
    const { sessionId } = await runJob(harness, { yaml });
    const both = await Promise.all(
      ["left", "right"].map((prompt) => runJob(harness, { yaml, prompt, resume: sessionId })),
    );
    expect(both.map((one) => one.job.status)).toEqual(["completed", "completed"]);
    expect(both.map((one) => one.sessionId)).toEqual([sessionId, sessionId]);

    const lines = readFileSync(transcriptOf(harness, sessionId), "utf8").trim().split("\n");
    const nodes = lines
      .map((line): { uuid?: string; parentUuid?: string | null; type: string } => JSON.parse(line))
      .filter((line) => (line.type === "user" || line.type === "assistant") && line.uuid);
    const parents = nodes.map((node) => node.parentUuid);
    expect(new Set(parents).size).toBe(parents.length);
  });

  test("forks the second of two automatic runs of a persistent session", async () => {
    const harness = await startHarness({
      script: { rules: [{ reply: { text: "Slow.", delay: { first: "700ms" } } }] },
    });
    const persistent = `${yaml}\nsession: { mode: persistent }`;
    const { sessionId } = await runJob(harness, { yaml: persistent });
    const both = await Promise.all([
      runJob(harness, { yaml: persistent }),
      runJob(harness, { yaml: persistent }),
    ]);
    const ids = both.map((one) => one.sessionId);
    expect(ids).toContain(sessionId);
    expect(new Set(ids).size).toBe(2);
    expect(both.flatMap((one) => one.job.warnings).join()).toContain("fork");
  });

  test("does not trigger Claude Code's cleanup of old transcripts", async () => {
    const harness = await startHarness(chatty);
    const { sessionId } = await runJob(harness, { yaml });
    const old = transcriptOf(harness, randomUUID());
    writeFileSync(old, readFileSync(transcriptOf(harness, sessionId)));
    const longAgo = new Date(Date.now() - 90 * 24 * 3600_000);
    utimesSync(old, longAgo, longAgo);
    await runJob(harness, { yaml });
    expect(existsSync(old)).toBe(true);
  });
});

test("resumes a session only where it was created", async () => {
  const harness = await startHarness(chatty);
  const { sessionId } = await runJob(harness, { yaml: "runtime: sdk" });
  const { job } = await runJob(harness, { yaml: "runtime: cli", resume: sessionId });
  expect(job.outcome).toMatchObject({
    code: "session_missing",
    message: expect.stringContaining("`sdk`"),
  });
});

test("records a session with agent, place, folder and totals", async () => {
  const harness = await startHarness(chatty);
  const { sessionId, job } = await runJob(harness, { yaml: "runtime: cli" });
  const state = await new StateManager(stateDirOf(harness)).open({ readOnly: true });
  const session = await state.sessions.get(sessionId);
  await state.close();
  expect(session).toMatchObject({
    agent: "one",
    session_home: "cli",
    cwd: harness.workspace,
    job_id: job.id,
  });
  expect(session?.cost_total_usd).toBe(job.cost_usd);
  expect(existsSync(join(harness.configDir, "projects"))).toBe(true);
});
