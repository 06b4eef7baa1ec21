import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Approval, HookRun, Job } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { discordMessage, slackMessage } from "../../packages/core/src/hooks/chat-messages.ts";
import { createHookContext } from "../../packages/core/src/hooks/hook-attempt.ts";
import { selectNoticeHooks } from "../../packages/core/src/hooks/select-hooks.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { finishedJob, outcomeOf } from "./finished-job.ts";
import { type HookWorkerHarness, startHookWorkerHarness } from "./hook-worker-harness.ts";

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

async function createRunningJob({ state }: HookWorkerHarness): Promise<Job> {
  const { job } = await state.jobs.create({ agent: "one", prompt: "go" });
  return (await state.jobs.startAttempt(job.id)).job;
}

function ask({ state }: HookWorkerHarness, { id }: Job, command = "npm test"): Promise<Approval> {
  const request = { tool: "Bash", input: { command }, expires_at: inAnHour() };
  return state.approvals.create({ job_id: id, attempt: 1, ...request });
}

const waitUntilReset = async ({ state }: HookWorkerHarness, job: Job, code: "usage_limit") => {
  const attempt = (await state.jobs.get(job.id))?.attempts ?? 0;
  const outcome = { code, message: "The limit is used up.", hint: "Wait." };
  const end = { outcome_code: code, session_id: null, cost_usd: null };
  const change = { status: "waiting" as const, outcome, due_at: inAnHour() };
  return state.jobs.endAttempt(job.id, attempt, end, change);
};

const told = ({ folder }: HookWorkerHarness) =>
  readFileSync(join(folder, "told.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("hooks on a question", () => {
  test("run once with what is asked, until when, and where to answer, also after a restart", async () => {
    const harness = await startHookWorkerHarness(
      'on_question: [{ type: shell, command: "cat >> told.jsonl; echo $HERDCTL_REQUEST $HERDCTL_URL >> env.txt" }]',
    );
    const job = await createRunningJob(harness);
    const approval = await ask(harness, job);
    harness.worker.start();
    const [run] = await harness.waitUntilSettled(job);
    expect(run).toMatchObject({
      event: "on_question",
      cause: { kind: "question", approval_id: approval.id },
    });
    await harness.worker.stop(5_000);
    const next = harness.nextWorker();
    next.start();
    const second = await ask(harness, job, "npm run build");
    next.wake();
    await expect.poll(async () => (await harness.hooksOf(job)).length).toBe(2);
    await harness.waitUntilSettled(job);
    const [first, other] = told(harness);
    expect(first).toMatchObject({
      type: "job.question",
      fleet: "my-fleet",
      url: "http://127.0.0.1:3232/inbox",
      job: { id: job.id, agent: "one" },
      question: {
        id: approval.id,
        kind: "permission",
        tool: "Bash",
        input: { command: "npm test" },
        expires_at: approval.expires_at,
      },
    });
    expect(other.question.id).toBe(second.id);
    expect(told(harness)).toHaveLength(2);
    expect(readFileSync(join(harness.folder, "env.txt"), "utf8")).toContain(
      `${approval.id} http://127.0.0.1:3232/inbox\n`,
    );
    expect(await harness.state.hooks.listNotices()).toEqual([]);
  });

  test("are not sent for a request that was answered before", async () => {
    const harness = await startHookWorkerHarness(`on_question:
  - type: shell
    command: "echo x >> tries; exit 1"
    retry: { backoff: 300ms }`);
    const job = await createRunningJob(harness);
    const answered = await ask(harness, job, "first");
    await harness.state.approvals.answer(answered.id, "allow", "test");
    const approval = await ask(harness, job);
    harness.worker.start();
    await expect
      .poll(async () => (await harness.hooksOf(job))[0])
      .toMatchObject({ status: "due", attempts: 1 });
    await harness.state.approvals.answer(approval.id, "deny", "test");
    const [run, ...others] = await harness.waitUntilSettled(job);
    expect(run?.message).toBe("not sent: the request was closed before (deny)");
    expect(others).toEqual([]);
    expect(readFileSync(join(harness.folder, "tries"), "utf8")).toBe("x\n");
  });
});

describe("hooks on a wait", () => {
  test("run once for a limit, however often the job meets it again", async () => {
    const harness = await startHookWorkerHarness(
      `on_limit: [{ type: shell, command: "cat >> told.jsonl" }]
on_waiting: [{ type: shell, command: "echo x >> waiting" }]`,
    );
    harness.worker.start();
    const job = await createRunningJob(harness);
    await waitUntilReset(harness, job, "usage_limit");
    harness.worker.wake();
    await harness.waitUntilSettled(job);
    await harness.state.jobs.startAttempt(job.id);
    await waitUntilReset(harness, job, "usage_limit");
    expect(await harness.state.hooks.listNotices()).toEqual([]);
    const [context, ...others] = told(harness);
    expect(others).toEqual([]);
    expect(context).toMatchObject({
      type: "job.limit",
      url: `http://127.0.0.1:3232/jobs/${job.id}`,
      wait: { outcome: { code: "usage_limit" } },
    });
    expect((await harness.hooksOf(job)).map(({ event }) => event)).toEqual(["on_limit"]);
  });
});

const agent = (hooks: string) =>
  agentOf(loadTestFleet(inlineAgent(`hooks:\n${hooks.replace(/^/gm, "  ")}`)), "one");

const approval = {
  id: "approval-1",
  kind: "permission",
  tool: "Bash",
  input: { command: "echo '@everyone <!channel>'" },
  question: null,
  choices: null,
  answer: null,
  expires_at: "2026-03-01T22:30:00.000Z",
} as Approval;
const question = { cause: { kind: "question" as const, approval_id: "approval-1" }, approval };
const wait = (code: "usage_limit" | "docker_unavailable") => ({
  cause: { kind: "wait" as const, attempt: 1, outcome: outcomeOf(code), until: inAnHour() },
});

describe("selection of hooks for questions and waits", () => {
  const all = () =>
    agent(`on_question:
  - { type: shell, command: every }
  - { type: shell, command: bash, when: "request == permission and tool == Bash" }
  - { type: shell, command: asks, when: "request == question" }
on_waiting: [{ type: shell, command: w, outcomes: [docker_unavailable] }]
on_limit: [{ type: shell, command: l, outcomes: [usage_limit] }, { type: shell, command: r, outcomes: [rate_limited] }]`);

  test.each([
    ["a permission request", question, ["on_question[0]", "on_question[1]"]],
    ["a limit", wait("usage_limit"), ["on_limit[0]"]],
    ["another wait", wait("docker_unavailable"), ["on_waiting[0]"]],
  ])("selects the hooks for %s", (_, notice, expected) => {
    const selected = selectNoticeHooks(finishedJob({ status: "waiting" }), all(), notice);
    expect(selected.map(({ event, position }) => `${event}[${position}]`)).toEqual(expected);
  });

  test("refuses `outcomes` on a question", () => {
    expect(() => agent("on_question: [{ type: shell, command: a, outcomes: [timeout] }]")).toThrow(
      "hooks.on_question[0].outcomes",
    );
  });
});

describe("messages about questions and waits", () => {
  const run = { id: "hook-1", attempts: 1, created_at: "2026-03-01T22:00:00.000Z" } as HookRun;
  const context = createHookContext({
    run: { ...run, event: "on_question", cause: question.cause },
    job: finishedJob({ status: "waiting", outcome: null, finished_at: null }),
    fleet: "my-fleet",
    dashboardUrl: "https://herd.example.org",
    approval,
  });
  const limit = createHookContext({
    run: { ...run, event: "on_limit", cause: wait("usage_limit").cause },
    job: finishedJob({ status: "waiting" }),
    fleet: "my-fleet",
    dashboardUrl: null,
  });

  test.each([
    ["Discord", discordMessage],
    ["Slack", slackMessage],
  ])("on %s show the request, the time and the link, and mention no one", (_, message) => {
    for (const format of ["embed", "text"] as const) {
      const sent = JSON.stringify(message(context, format));
      for (const part of ["one wants to use Bash", "echo '", "2026-03-01 22:30 UTC"])
        expect(sent).toContain(part);
      expect(sent).toContain("herdctl approvals allow approval-1");
      expect(sent).toContain("https://herd.example.org/inbox");
      expect(sent).not.toContain("@everyone");
      const limited = JSON.stringify(message(limit, format));
      expect(limited).toContain("one waits: usage_limit");
      expect(limited).not.toContain("http");
    }
  });
});
