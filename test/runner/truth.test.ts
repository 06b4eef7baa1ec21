import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "@herdctl/rehearsal";
import { describe, expect, test } from "vitest";
import { logOf, runJob } from "../support/job.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";

const endless: Script = {
  rules: [{ replies: [{ tools: [{ name: "Bash", input: { command: "true" } }] }], repeat: true }],
};
const faulty = (fault: NonNullable<NonNullable<Script["rules"]>[number]["fault"]>): Script => ({
  rules: [{ fault }],
});

interface Misfortune {
  what: string;
  code: string;
  script?: Script;
  yaml?: string;
  prompt?: string;
}

const misfortunes: Misfortune[] = [
  { what: "401", code: "auth_failed", script: faulty({ status: 401 }) },
  { what: "403", code: "auth_failed", script: faulty({ status: 403 }) },
  {
    what: "429 with retry-after: 120",
    code: "usage_limit",
    script: faulty({ status: 429, headers: { "retry-after": "120" } }),
  },
  {
    what: "429 for ever",
    code: "rate_limited",
    script: faulty({ status: 429, headers: { "retry-after": "1" } }),
  },
  { what: "529 for ever", code: "overloaded", script: faulty({ status: 529 }) },
  { what: "500 for ever", code: "overloaded", script: faulty({ status: 500 }) },
  { what: "a cut stream, for ever", code: "network", script: faulty({ cut: { events: 2 } }) },
  {
    what: "a stalled stream",
    code: "stalled",
    script: faulty({ stall: { events: 2 } }),
    yaml: "timeouts: { stall: 1s }",
  },
  {
    what: "no answer at all",
    code: "stalled",
    script: faulty({ never: true }),
    yaml: "timeouts: { stall: 1s }",
  },
  { what: "too long", code: "timeout", script: endless, yaml: "timeouts: { wall: 2s }" },
  { what: "max turns", code: "max_turns", script: endless, yaml: "max_turns: 2" },
  { what: "budget", code: "budget_exceeded", script: endless, yaml: "max_budget_usd: 0.01" },
  {
    what: "a bad request",
    code: "config_error",
    script: faulty({ status: 400, message: "prompt is bad" }),
  },
  {
    what: "no credit",
    code: "billing",
    script: faulty({ status: 400, message: "Your credit balance is too low to access the API" }),
  },
  {
    what: "SIGKILL of claude",
    code: "runtime_crashed",
    prompt: obey(["Bash", { command: "kill -9 $PPID" }]),
  },
  {
    what: "SIGTERM of claude",
    code: "runtime_crashed",
    prompt: obey(["Bash", { command: "kill -15 $PPID; sleep 5" }]),
  },
  {
    what: "a denied tool",
    code: "finished_with_denials",
    yaml: "permission_mode: dontAsk",
    prompt: obey(["Bash", { command: "mkfifo x" }]),
  },
];

describe.each(sliceOf(["cli", "sdk"], 1))("%s", (runtime) => {
  test.each(misfortunes)("$what → $code", async ({ code, script, yaml = "", prompt }) => {
    const on = await stage(script ? { script } : { mode: "obedient" });
    const { success, job, error } = await runJob(on, {
      yaml: `runtime: ${runtime}\n${yaml}`,
      prompt,
    });
    expect(job.outcome?.code, JSON.stringify(job.outcome)).toBe(code);
    expect(job.outcome?.hint).not.toBe("");
    expect(success).toBe(code === "finished_with_denials");
    if (!success) expect(error).toMatchObject({ jobId: job.id, outcome: { code } });
    if (code === "usage_limit")
      expect(Date.parse(job.outcome?.resets_at ?? "")).toBeGreaterThan(Date.now() + 60_000);
  });

  test("a session that is gone is noticed before a token is spent", async () => {
    const on = await stage({ mode: "obedient" });
    const { job } = await runJob(on, { yaml: `runtime: ${runtime}`, resume: randomUUID() });
    expect(job).toMatchObject({
      status: "failed",
      outcome: { code: "session_missing" },
      attempts: 0,
    });
    expect(on.rehearsal.ledger.entries).toHaveLength(0);
  });

  const unprepared: [
    what: string,
    yaml: string,
    env: Record<string, string>,
    code: string,
    message: RegExp,
  ][] = [
    ["no folder", "working_directory: /nowhere/at/all", {}, "workspace_missing", /nowhere/],
    ["no credential", "", { ANTHROPIC_API_KEY: "" }, "auth_failed", /no API key|neither a login/],
  ];
  test.each(unprepared)(
    "%s is its own clear error before anything is spent",
    async (_, yaml, env, code, message) => {
      const on = await stage({ mode: "obedient" });
      const { job } = await runJob(on, { yaml: `runtime: ${runtime}\n${yaml}`, env });
      expect(job.outcome?.code).toBe(code);
      expect(job.outcome?.message).toMatch(message);
      expect(on.rehearsal.ledger.entries).toHaveLength(0);
    },
  );

  test("a binary that is missing, not executable or too old", async () => {
    const on = await stage({ mode: "obedient" });
    const program = join(on.home, "claude");
    const outcomeWith = async (claudePath: string) =>
      (await runJob(on, { yaml: `runtime: ${runtime}`, claudePath })).job.outcome;
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

  test("a claude that never says anything is not waited for", async () => {
    const on = await stage();
    const program = join(on.home, "claude");
    const version = '[ "$1" = --version ] && exec echo "2.1.325 (Claude Code)"';
    const silence = `echo $$ > ${program}.pid\nexec sleep 600`;
    writeFileSync(program, `#!/bin/sh\n${version}\n${silence}\n`, { mode: 0o755 });
    const { job, error } = await runJob(on, {
      yaml: `runtime: ${runtime}\ntimeouts: { start: 1s }`,
      claudePath: program,
    });
    expect(job).toMatchObject({
      status: "failed",
      outcome: { code: "start_timeout", hint: expect.stringContaining("timeouts.start") },
      attempts: 1,
      session_id: null,
    });
    expect(error).toMatchObject({ name: "SDKError", jobId: job.id, cause: undefined });
    const pid = readFileSync(`${program}.pid`, "utf8").trim();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(on.rehearsal.ledger.entries).toHaveLength(0);
  });

  test("cancelled in the middle of a tool", async () => {
    const on = await stage({ mode: "obedient" });
    const stopping = new AbortController();
    const { job } = await runJob(on, {
      yaml: `runtime: ${runtime}`,
      prompt: obey(["Bash", { command: "tail -f /dev/null" }]),
      signal: stopping.signal,
      onMessage: (message) => {
        if (message.type === "assistant") setTimeout(() => stopping.abort(), 300);
      },
    });
    expect(job).toMatchObject({ status: "cancelled", outcome: { code: "cancelled" } });
    expect(job.session_id).not.toBeNull();
  });

  test("an abort that comes after the last word does not undo it", async () => {
    const on = await stage({ script: { rules: [{ reply: "Done." }] } });
    const stopping = new AbortController();
    const { job } = await runJob(on, {
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

  test("a long silent tool is no stall", async () => {
    const on = await stage({ mode: "obedient" });
    const { job } = await runJob(on, {
      yaml: `runtime: ${runtime}\ntimeouts: { stall: 1s }`,
      prompt: obey(["Bash", { command: "perl -e 'select(undef,undef,undef,2.5)'" }]),
    });
    expect(job.outcome?.code).toBe("success");
  });

  test("success has everything on record", async () => {
    const on = await stage({ mode: "obedient" });
    const { job, summary, sessionId } = await runJob(on, {
      yaml: `runtime: ${runtime}`,
      prompt: `OBEY: say All done.\n\n${obey(["Bash", { command: "echo hello" }])}`,
    });
    expect(job).toMatchObject({
      status: "completed",
      outcome: { code: "success" },
      runtime,
      place: runtime,
      credential: "api_key",
      claude_version: "2.1.325",
      attempts: 1,
    });
    expect(job.cost_usd).toBeGreaterThan(0);
    expect(job.usage?.output_tokens).toBeGreaterThan(0);
    expect(summary).toContain("All done.");
    const kinds = (await logOf(job)).map((message) => message.type);
    expect(kinds).toEqual(["system", "assistant", "user", "assistant", "result"]);
    expect(sessionId).toBe(job.session_id);
  });
});
