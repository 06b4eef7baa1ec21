import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ApprovalRequests,
  type AskPerson,
} from "../../packages/core/src/jobs/attempts/approval-requests.ts";
import { identities } from "../../packages/core/src/store/model/identity.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import type { Approval, ApprovalDecision } from "../../packages/protocol/src/records/approval.ts";
import type { Question } from "../../packages/protocol/src/records/question.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const { signal } = new AbortController();
const bash = { tool: "Bash", input: { command: "ls" }, toolUseId: "use-1" };

/** Approval requests of a running job that are answered by `askPerson`. */
async function createRequests(askPerson?: AskPerson) {
  const state = await new StateManager(join(tempFolderWith({}), "state")).open();
  onTestFinished(() => state.close());
  const { job } = await state.jobs.create({ agent: "one", prompt: "p" });
  await state.jobs.startAttempt(job.id, {});
  const [statuses, lapsed]: [string[], Approval[]] = [[], []];
  const run = { jobId: job.id, attempt: 1 };
  const requests = new ApprovalRequests(state, run, askPerson, {
    onJobChanged: ({ status }) => void statuses.push(status),
    onExpired: (approval) => void lapsed.push(approval),
  });
  return { requests, state, job, statuses, lapsed };
}

const answerWith =
  (word: ApprovalDecision): AskPerson =>
  async () =>
    word;
const neverAnswers: AskPerson = () => new Promise(() => undefined);

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
    multiple: false,
    default_reply: null,
    expires_at: expiresIn(60_000),
    ...more,
  };
}

function expiresIn(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString();
}

describe("permission request", () => {
  test("keeps the job waiting until a person answers", async () => {
    const { requests, statuses, state, job } = await createRequests(answerWith("allow"));
    expect(await requests.answer(bash, signal)).toEqual({
      behavior: "allow",
      updatedInput: bash.input,
    });
    expect(statuses).toEqual(["waiting", "running"]);
    const [approval] = await state.approvals.listByJob(job.id);
    expect(approval).toMatchObject({ answer: "allow", used: true, answered_by: identities.user() });
  });

  test("denies a tool when a person denies it or there is no one to ask", async () => {
    const asked = await createRequests(answerWith("deny"));
    expect(await asked.requests.answer(bash, signal)).toEqual({
      behavior: "deny",
      message: "A person denied this.",
      byPerson: true,
    });
    const alone = await createRequests();
    expect(await alone.requests.answer(bash, signal)).toEqual({
      behavior: "deny",
      message: "No one allowed this.",
      byPerson: false,
    });
    const [approval] = await alone.state.approvals.listByJob(alone.job.id);
    expect(approval).toMatchObject({
      answered_by: "system",
      answered_note: "no person could be asked",
    });
  });

  test("passes the reason of a denial to the model", async () => {
    const { requests, state, job } = await createRequests(neverAnswers);
    const answer = requests.answer(bash, signal, new Date(Date.now() + 400));
    await expect.poll(() => state.approvals.listOpen(job.id)).toHaveLength(1);
    const [open] = await state.approvals.listOpen(job.id);
    await state.approvals.answer(open?.id ?? "", "deny", "dashboard", "not on a Friday");
    expect(await answer).toEqual({
      behavior: "deny",
      message: "A person denied this: not on a Friday",
      byPerson: true,
    });
  });

  test("denies a tool when no one answers in time or the answer does not fit", async () => {
    const { requests, lapsed } = await createRequests(neverAnswers);
    const soon = new Date(Date.now() + 30);
    expect(await requests.answer(bash, signal, soon)).toMatchObject({ behavior: "deny" });
    expect(lapsed).toMatchObject([{ answer: "expired" }]);
    const confused = await createRequests(answerWith({ reply: "A" }));
    expect(await confused.requests.answer(bash, signal)).toMatchObject({ behavior: "deny" });
  });

  test("denies a tool when the run stops first or asking fails", async () => {
    const { requests, state, job } = await createRequests(neverAnswers);
    expect(await requests.answer(bash, AbortSignal.abort())).toMatchObject({ behavior: "deny" });
    expect(await state.approvals.listOpen(job.id)).toHaveLength(1);
    const broken = await createRequests(async () => {
      throw new Error("the terminal is gone");
    });
    expect(await broken.requests.answer(bash, signal)).toMatchObject({ behavior: "deny" });
  });

  test("returns an earlier answer that was lost on its way", async () => {
    const { requests, state, job } = await createRequests(neverAnswers);
    const expires_at = expiresIn(60_000);
    const asked = { job_id: job.id, attempt: 1, request_id: "use-1", expires_at };
    const { id } = await state.approvals.create({ ...asked, tool: "Bash", input: bash.input });
    await state.approvals.answer(id, "allow", "dashboard");
    expect(await requests.answer(bash, signal)).toMatchObject({ behavior: "allow" });
    expect((await state.approvals.get(id))?.used).toBe(true);
  });

  test("reuses an open request of an older version without an id", async () => {
    const { requests, state, job } = await createRequests(answerWith("allow"));
    const expires_at = expiresIn(60_000);
    const { id } = await state.approvals.create({
      ...{ job_id: job.id, attempt: 1, expires_at },
      ...{ tool: "Bash", input: bash.input },
    });
    expect(await requests.answer(bash, signal)).toMatchObject({ behavior: "allow" });
    expect((await state.approvals.listByJob(job.id)).map((one) => one.id)).toEqual([id]);
  });
});

describe("question to a person", () => {
  test("returns a person's answer as the label of the choice", async () => {
    const { requests } = await createRequests(answerWith({ reply: "b" }));
    expect(await requests.question(question(), signal)).toEqual({ kind: "reply", text: "B" });
  });

  test("returns none when a person declines or there is no one to ask", async () => {
    const asked = await createRequests(answerWith("deny"));
    expect(await asked.requests.question(question(), signal)).toEqual({
      kind: "none",
      why: "declined",
      reason: undefined,
    });
    const alone = await createRequests();
    expect(await alone.requests.question(question(), signal)).toEqual({
      kind: "none",
      why: "nobody",
    });
  });

  test("returns the default or none when no one answers in time", async () => {
    const soon = { expires_at: expiresIn(1_500) };
    const { requests } = await createRequests(neverAnswers);
    const [plain, standard] = await Promise.all([
      requests.question(question(soon), signal),
      requests.question(question({ ...soon, input: { q: 2 }, default_reply: "A" }), signal),
    ]);
    expect(plain).toEqual({ kind: "none", why: "expired" });
    expect(standard).toEqual({ kind: "default", text: "A" });
  });

  test("withdraws a question that the run takes back", async () => {
    const { requests } = await createRequests(neverAnswers);
    expect(await requests.question(question(), AbortSignal.abort())).toEqual({
      kind: "none",
      why: "withdrawn",
    });
  });
});
