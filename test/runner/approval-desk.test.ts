import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ApprovalDesk, type AskPerson } from "../../packages/core/src/runner/approval-desk.ts";
import type { Approval, Word } from "../../packages/core/src/state/approval.ts";
import { identities } from "../../packages/core/src/state/identity.ts";
import type { Question } from "../../packages/core/src/state/question.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { folderWith } from "../support/folder.ts";

const { signal } = new AbortController();
const bash = { tool: "Bash", input: { command: "ls" }, toolUseId: "use-1" };

/** A desk of a run under way, and whom it asks. */
async function desk(askPerson?: AskPerson) {
  const state = await new StateManager(join(folderWith({}), "state")).open();
  onTestFinished(() => state.close());
  const { job } = await state.jobs.create({ agent: "one", prompt: "p" });
  await state.jobs.startAttempt(job.id, {});
  const [statuses, lapsed]: [string[], Approval[]] = [[], []];
  const run = { jobId: job.id, attempt: 1 };
  const of = new ApprovalDesk(state, run, askPerson, {
    onChange: ({ status }) => void statuses.push(status),
    onLapsed: (approval) => void lapsed.push(approval),
  });
  return { desk: of, state, job, statuses, lapsed };
}

const says =
  (word: Word): AskPerson =>
  async () =>
    word;
const silent: AskPerson = () => new Promise(() => undefined);

function question(more: Partial<Question> = {}): Question {
  return {
    tool: "ask",
    input: { q: "Which?" },
    question: "Which?",
    choices: [
      { label: "A", description: null },
      { label: "B", description: null },
    ],
    free_text: false,
    several: false,
    default_reply: null,
    expires_at: inTime(60_000),
    ...more,
  };
}

function inTime(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString();
}

describe("a tool that needs permission", () => {
  test("waits for a person's word, and the job with it", async () => {
    const { desk: of, statuses, state, job } = await desk(says("allow"));
    expect(await of.answer(bash, signal)).toEqual({ behavior: "allow", updatedInput: bash.input });
    expect(statuses).toEqual(["waiting", "running"]);
    const [approval] = await state.approvals.ofJob(job.id);
    expect(approval).toMatchObject({ answer: "allow", used: true, answered_by: identities.user() });
  });

  test("is denied by a person, or because there is none", async () => {
    const asked = await desk(says("deny"));
    expect(await asked.desk.answer(bash, signal)).toEqual({
      behavior: "deny",
      message: "A person denied this.",
    });
    const alone = await desk();
    expect(await alone.desk.answer(bash, signal)).toEqual({
      behavior: "deny",
      message: "Nobody allowed this.",
    });
    const [approval] = await alone.state.approvals.ofJob(alone.job.id);
    expect(approval).toMatchObject({
      answered_by: "system",
      answered_note: "nobody was there to be asked",
    });
  });

  test("is denied with the reason that was given", async () => {
    const { desk: of, state, job } = await desk(silent);
    const answer = of.answer(bash, signal, new Date(Date.now() + 400));
    await expect.poll(() => state.approvals.open(job.id)).toHaveLength(1);
    const [open] = await state.approvals.open(job.id);
    await state.approvals.answer(open?.id ?? "", "deny", "dashboard", "not on a Friday");
    expect(await answer).toEqual({
      behavior: "deny",
      message: "A person denied this: not on a Friday",
    });
  });

  test("is denied when nobody answers in time, or a word answers something else", async () => {
    const { desk: of, lapsed } = await desk(silent);
    const soon = new Date(Date.now() + 30);
    expect(await of.answer(bash, signal, soon)).toMatchObject({ behavior: "deny" });
    expect(lapsed).toMatchObject([{ answer: "expired" }]);
    const confused = await desk(says({ reply: "A" }));
    expect(await confused.desk.answer(bash, signal)).toMatchObject({ behavior: "deny" });
  });

  test("is denied when the run is stopped before, or whoever asks breaks", async () => {
    const { desk: of, state, job } = await desk(silent);
    expect(await of.answer(bash, AbortSignal.abort())).toMatchObject({ behavior: "deny" });
    expect(await state.approvals.open(job.id)).toHaveLength(1);
    const broken = await desk(async () => {
      throw new Error("the terminal is gone");
    });
    expect(await broken.desk.answer(bash, signal)).toMatchObject({ behavior: "deny" });
  });

  test("that is asked for again gets the answer that was lost on its way", async () => {
    const { desk: of, state, job } = await desk(silent);
    const expires_at = inTime(60_000);
    const asked = { job_id: job.id, attempt: 1, request_id: "use-1", expires_at };
    const { id } = await state.approvals.ask({ ...asked, tool: "Bash", input: bash.input });
    await state.approvals.answer(id, "allow", "dashboard");
    expect(await of.answer(bash, signal)).toMatchObject({ behavior: "allow" });
    expect((await state.approvals.get(id))?.used).toBe(true);
  });

  test("takes up what an older version asked without an id, and asks nobody twice", async () => {
    const { desk: of, state, job } = await desk(says("allow"));
    const expires_at = inTime(60_000);
    const { id } = await state.approvals.ask({
      ...{ job_id: job.id, attempt: 1, expires_at },
      ...{ tool: "Bash", input: bash.input },
    });
    expect(await of.answer(bash, signal)).toMatchObject({ behavior: "allow" });
    expect((await state.approvals.ofJob(job.id)).map((one) => one.id)).toEqual([id]);
  });
});

describe("a question", () => {
  test("gets a person's answer, by the label of the choice", async () => {
    const { desk: of } = await desk(says({ reply: "b" }));
    expect(await of.question(question(), signal)).toEqual({ kind: "reply", text: "B" });
  });

  test("is declined by a person, or there is none", async () => {
    const asked = await desk(says("deny"));
    expect(await asked.desk.question(question(), signal)).toEqual({
      kind: "none",
      why: "declined",
      reason: undefined,
    });
    const alone = await desk();
    expect(await alone.desk.question(question(), signal)).toEqual({ kind: "none", why: "nobody" });
  });

  test("that nobody answers in time has its default, or no answer", async () => {
    const soon = { expires_at: inTime(1_500) };
    const { desk: of } = await desk(silent);
    const [plain, standard] = await Promise.all([
      of.question(question(soon), signal),
      of.question(question({ ...soon, input: { q: 2 }, default_reply: "A" }), signal),
    ]);
    expect(plain).toEqual({ kind: "none", why: "expired" });
    expect(standard).toEqual({ kind: "default", text: "A" });
  });

  test("that the run takes back is withdrawn", async () => {
    const { desk: of } = await desk(silent);
    expect(await of.question(question(), AbortSignal.abort())).toEqual({
      kind: "none",
      why: "withdrawn",
    });
  });
});
