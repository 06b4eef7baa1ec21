import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "@herdctl/rehearsal";
import { describe, expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { readJobMessages, runJob } from "../support/run-job.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const endlessScript: Script = {
  rules: [{ replies: [{ tools: [{ name: "Bash", input: { command: "true" } }] }], repeat: true }],
};
const faultScript = (
  fault: NonNullable<NonNullable<Script["rules"]>[number]["fault"]>,
): Script => ({
  rules: [{ fault }],
});

interface FailureCase {
  what: string;
  code: string;
  script?: Script;
  yaml?: string;
  prompt?: string;
}

const failureCases: FailureCase[] = [
  { what: "401", code: "auth_failed", script: faultScript({ status: 401 }) },
  { what: "403", code: "auth_failed", script: faultScript({ status: 403 }) },
  {
    what: "429 with retry-after: 120",
    code: "usage_limit",
    script: faultScript({ status: 429, headers: { "retry-after": "120" } }),
  },
  {
    what: "endless 429",
    code: "rate_limited",
    script: faultScript({ status: 429, headers: { "retry-after": "1" } }),
  },
  { what: "endless 529", code: "overloaded", script: faultScript({ status: 529 }) },
  { what: "endless 500", code: "overloaded", script: faultScript({ status: 500 }) },
  {
    what: "endlessly truncated stream",
    code: "network",
    script: faultScript({ cut: { events: 2 } }),
  },
  {
    what: "stalled stream",
    code: "stalled",
    script: faultScript({ stall: { events: 2 } }),
    yaml: "timeouts: { stall: 1s }",
  },
  {
    what: "no answer at all",
    code: "stalled",
    script: faultScript({ never: true }),
    yaml: "timeouts: { stall: 1s }",
  },
  {
    what: "total timeout",
    code: "timeout",
    script: endlessScript,
    yaml: "timeouts: { total: 2s }",
  },
  { what: "max turns", code: "max_turns", script: endlessScript, yaml: "max_turns: 2" },
  { what: "budget", code: "budget_exceeded", script: endlessScript, yaml: "max_budget_usd: 0.01" },
  {
    what: "bad request",
    code: "config_error",
    script: faultScript({ status: 400, message: "prompt is bad" }),
  },
  {
    what: "no credit",
    code: "billing",
    script: faultScript({
      status: 400,
      message: "Your credit balance is too low to access the API",
    }),
  },
  {
    what: "SIGKILL of claude",
    code: "runtime_crashed",
    prompt: toolCallPrompt(["Bash", { command: "kill -9 $PPID" }]),
  },
  {
    what: "SIGTERM of claude",
    code: "runtime_crashed",
    prompt: toolCallPrompt(["Bash", { command: "kill -15 $PPID; sleep 5" }]),
  },
  {
    what: "denied tool",
    code: "finished_with_denials",
    yaml: "permission_mode: dontAsk",
    prompt: toolCallPrompt(["Bash", { command: "mkfifo x" }]),
  },
];

describe.each(testSubset(["cli", "sdk"], 1))("%s", (runtime) => {
  test.each(failureCases)(
    "records $code for $what",
    async ({ code, script, yaml = "", prompt }) => {
      const harness = await startHarness(script ? { script } : { mode: "obedient" });
      const { success, job, error } = await runJob(harness, {
        yaml: `runtime: ${runtime}\n${yaml}`,
        prompt,
      });
      expect(job.outcome?.code, JSON.stringify(job.outcome)).toBe(code);
      expect(job.outcome?.hint).not.toBe("");
      expect(success).toBe(code === "finished_with_denials");
      if (!success) expect(error).toMatchObject({ jobId: job.id, outcome: { code } });
      if (code === "usage_limit")
        expect(Date.parse(job.outcome?.resets_at ?? "")).toBeGreaterThan(Date.now() + 60_000);
    },
  );

  test("reports a missing session before spending a token", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const { job } = await runJob(harness, { yaml: `runtime: ${runtime}`, resume: randomUUID() });
    expect(job).toMatchObject({
      status: "failed",
      outcome: { code: "session_missing" },
      attempts: 0,
    });
    expect(harness.rehearsal.ledger.entries).toHaveLength(0);
  });

  const unprepared: [
    what: string,
    yaml: string,
    env: Record<string, string>,
    code: string,
    message: RegExp,
  ][] = [
    ["a missing folder", "working_directory: /nowhere/at/all", {}, "workspace_missing", /nowhere/],
    [
      "a missing credential",
      "",
      { ANTHROPIC_API_KEY: "" },
      "auth_failed",
      /no API key|neither a login/,
    ],
  ];
  test.each(unprepared)(
    "reports %s separately before spending anything",
    async (_, yaml, env, code, message) => {
      const harness = await startHarness({ mode: "obedient" });
      const { job } = await runJob(harness, { yaml: `runtime: ${runtime}\n${yaml}`, env });
      expect(job.outcome?.code).toBe(code);
      expect(job.outcome?.message).toMatch(message);
      expect(harness.rehearsal.ledger.entries).toHaveLength(0);
    },
  );

  test("reports a binary that is missing, not executable or too old", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const program = join(harness.home, "claude");
    const outcomeWith = async (claudePath: string) =>
      (await runJob(harness, { yaml: `runtime: ${runtime}`, claudePath })).job.outcome;
    expect(await outcomeWith(program)).toMatchObject({ code: "runtime_missing" });
    writeFileSync(program, "#!/bin/sh\necho 1.0.3 '(Claude Code)'\n");
    expect(await outcomeWith(program)).toMatchObject({ code: "runtime_missing" });
    chmodSync(program, 0o755);
    expect(await outcomeWith(program)).toMatchObject({
      code: "runtime_missing",
      message: expect.stringContaining("1.0.3"),
    });
    rmSync(program);
  });

  test("stops waiting for a claude that never answers", async () => {
    const harness = await startHarness();
    const program = join(harness.home, "claude");
    const version = '[ "$1" = --version ] && exec echo "2.1.325 (Claude Code)"';
    const silence = `echo $$ > ${program}.pid\nexec sleep 600`;
    writeFileSync(program, `#!/bin/sh\n${version}\n${silence}\n`, { mode: 0o755 });
    const { job, error } = await runJob(harness, {
      yaml: `runtime: ${runtime}\ntimeouts: { start: 1s }`,
      claudePath: program,
    });
    expect(job).toMatchObject({
      status: "failed",
      outcome: { code: "start_timeout", hint: expect.stringContaining("timeouts.start") },
      attempts: 1,
      session_id: null,
    });
    expect(error).toMatchObject({ name: "SDKError", jobId: job.id });
    const pid = readFileSync(`${program}.pid`, "utf8").trim();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(harness.rehearsal.ledger.entries).toHaveLength(0);
  });

  test("cancels a job in the middle of a tool", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const stopping = new AbortController();
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}`,
      prompt: toolCallPrompt(["Bash", { command: "tail -f /dev/null" }]),
      signal: stopping.signal,
      onMessage: (message) => {
        if (message.type === "assistant") setTimeout(() => stopping.abort(), 300);
      },
    });
    expect(job).toMatchObject({ status: "cancelled", outcome: { code: "cancelled" } });
    expect(job.session_id).not.toBeNull();
  });

  test("ignores an abort after the final message", async () => {
    const harness = await startHarness({ script: { rules: [{ reply: "Done." }] } });
    const stopping = new AbortController();
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}`,
      signal: stopping.signal,
      onMessage: (message) => {
        if (message.type === "result") stopping.abort();
      },
    });
    expect(job).toMatchObject({
      status: "completed",
      outcome: { code: "success" },
      summary: "Done.",
    });
  });

  test("does not treat a long silent tool as a stall", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}\ntimeouts: { stall: 1s }`,
      prompt: toolCallPrompt(["Bash", { command: "perl -e 'select(undef,undef,undef,2.5)'" }]),
    });
    expect(job.outcome?.code).toBe("success");
  });

  test("records every detail of a success", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const { job, summary, sessionId } = await runJob(harness, {
      yaml: `runtime: ${runtime}`,
      prompt: `OBEY: say All done.\n\n${toolCallPrompt(["Bash", { command: "echo hello" }])}`,
    });
    expect(job).toMatchObject({
      status: "completed",
      outcome: { code: "success" },
      runtime,
      session_home: runtime,
      credential: "api_key",
      claude_version: "2.1.325",
      attempts: 1,
    });
    expect(job.cost_usd).toBeGreaterThan(0);
    expect(job.usage?.output_tokens).toBeGreaterThan(0);
    expect(summary).toContain("All done.");
    const kinds = (await readJobMessages(job)).map((message) => message.type);
    expect(kinds).toEqual(["system", "assistant", "user", "assistant", "result"]);
    expect(sessionId).toBe(job.session_id);
  });
});
