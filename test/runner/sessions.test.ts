import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AgentRunner, StateManager } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { sessionFilePath } from "../../packages/core/src/runner/runtime/session-file/path.ts";
import { claudeBinary } from "../support/claude.ts";
import { agentFor, runJob, stateDirOf } from "../support/job.ts";
import { type Stage, stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";

const chatty = {
  script: { rules: [{ match: { prompt: "second" }, reply: "Two." }, { reply: "One." }] },
};

function transcriptOf(on: Stage, sessionId: string): string {
  return sessionFilePath({ place: "cli", configDir: on.configDir, cwd: on.workspace }, sessionId);
}

describe.each(sliceOf(["cli", "sdk"], 1))("%s", (runtime) => {
  const yaml = `runtime: ${runtime}`;

  test("resume goes on in the same session, fork in a new one; costs are differences", async () => {
    const on = await stage(chatty);
    const agent = agentFor(on, yaml);
    const environment = on.env;
    const runner = new AgentRunner({
      agent,
      stateDir: stateDirOf(on),
      environment,
      claudePath: claudeBinary("325"),
    });
    const first = await runner.run("first");
    const second = await runner.resume(first.sessionId, "second");
    const branch = await runner.fork(first.sessionId, "second");
    expect(second.sessionId).toBe(first.sessionId);
    expect(branch.sessionId).not.toBe(first.sessionId);
    expect([first, second, branch].map((one) => one.summary)).toEqual(["One.", "Two.", "Two."]);

    const [cost1, cost2, cost3] = [first, second, branch].map((one) => one.job.cost_usd ?? 0);
    expect(cost1).toBeGreaterThan(0);
    const tokens = on.rehearsal.ledger.main.map((entry) => entry.usage?.input_tokens ?? 0);
    expect(second.job.usage?.input_tokens).toBe(tokens[1]);
    expect(branch.job.usage?.input_tokens).toBe(tokens[2]);
    expect(cost2).toBeLessThan((cost1 ?? 0) * 2);
    expect(cost3).toBeGreaterThan(0);
  });

  test("a session by hand goes on where the agent left it", async () => {
    const on = await stage(chatty);
    const { sessionId } = await runJob(on, { yaml });
    const byHand = await on.claude("325", ["second", "--resume", sessionId]);
    expect(byHand.result).toMatchObject({ result: "Two.", session_id: sessionId });
    const after = await runJob(on, { yaml, resume: sessionId, prompt: "second" });
    expect(after.job.session_id).toBe(sessionId);
    expect(JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body)).toContain("One.");
  });

  test("a persistent session is gone on with until it expires or is lost", async () => {
    const on = await stage(chatty);
    const persistent = `${yaml}\nsession: { mode: persistent, expires: 1h }`;
    const first = await runJob(on, { yaml: persistent });
    const second = await runJob(on, { yaml: persistent });
    expect(second.sessionId).toBe(first.sessionId);
    writeFileSync(transcriptOf(on, first.sessionId), "");
    const { unlinkSync } = await import("node:fs");
    unlinkSync(transcriptOf(on, first.sessionId));
    const third = await runJob(on, { yaml: persistent });
    expect(third.sessionId).not.toBe(first.sessionId);
    expect(third.job.warnings.join()).toContain("transcript");
  });

  test("two runs resuming one session at the same moment: one waits, the transcript is a chain", async () => {
    const on = await stage(chatty);
    const { sessionId } = await runJob(on, { yaml });
    const both = await Promise.all(
      ["left", "right"].map((prompt) => runJob(on, { yaml, prompt, resume: sessionId })),
    );
    expect(both.map((one) => one.job.status)).toEqual(["completed", "completed"]);
    expect(both.map((one) => one.sessionId)).toEqual([sessionId, sessionId]);

    const lines = readFileSync(transcriptOf(on, sessionId), "utf8").trim().split("\n");
    const nodes = lines
      .map((line): { uuid?: string; parentUuid?: string | null; type: string } => JSON.parse(line))
      .filter((line) => (line.type === "user" || line.type === "assistant") && line.uuid);
    const parents = nodes.map((node) => node.parentUuid);
    expect(new Set(parents).size).toBe(parents.length);
  });

  test("two automatic runs of a persistent session: the second forks", async () => {
    const on = await stage({
      script: { rules: [{ reply: { text: "Slow.", delay: { first: "700ms" } } }] },
    });
    const persistent = `${yaml}\nsession: { mode: persistent }`;
    const { sessionId } = await runJob(on, { yaml: persistent });
    const both = await Promise.all([
      runJob(on, { yaml: persistent }),
      runJob(on, { yaml: persistent }),
    ]);
    const ids = both.map((one) => one.sessionId);
    expect(ids).toContain(sessionId);
    expect(new Set(ids).size).toBe(2);
    expect(both.flatMap((one) => one.job.warnings).join()).toContain("fork");
  });

  test("our runs do not set off the sweep that deletes old transcripts", async () => {
    const on = await stage(chatty);
    const { sessionId } = await runJob(on, { yaml });
    const old = transcriptOf(on, randomUUID());
    writeFileSync(old, readFileSync(transcriptOf(on, sessionId)));
    const longAgo = new Date(Date.now() - 90 * 24 * 3600_000);
    utimesSync(old, longAgo, longAgo);
    await runJob(on, { yaml });
    expect(existsSync(old)).toBe(true);
  });
});

test("a session is resumed only where it was made", async () => {
  const on = await stage(chatty);
  const { sessionId } = await runJob(on, { yaml: "runtime: sdk" });
  const { job } = await runJob(on, { yaml: "runtime: cli", resume: sessionId });
  expect(job.outcome).toMatchObject({
    code: "session_missing",
    message: expect.stringContaining("`sdk`"),
  });
});

test("a session is on record with agent, place, folder and totals", async () => {
  const on = await stage(chatty);
  const { sessionId, job } = await runJob(on, { yaml: "runtime: cli" });
  const state = await new StateManager(stateDirOf(on)).open({ readOnly: true });
  const session = await state.sessions.get(sessionId);
  await state.close();
  expect(session).toMatchObject({ agent: "one", place: "cli", cwd: on.workspace, job_id: job.id });
  expect(session?.cost_total_usd).toBe(job.cost_usd);
  expect(existsSync(join(on.configDir, "projects"))).toBe(true);
});
