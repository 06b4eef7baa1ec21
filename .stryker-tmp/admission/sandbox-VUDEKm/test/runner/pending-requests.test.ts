import { expect, test } from "vitest";
import {
  type ApprovalRequestMessage,
  parseRunnerCommand,
  parseRunnerMessage,
} from "../../packages/core/src/runner/contract/messages.ts";
import { PendingApprovalRequests } from "../../packages/core/src/runner/process/pending-requests.ts";
import type { Question } from "../../packages/protocol/src/records/question.ts";

function createPendingRequests(more: Partial<Question> = {}) {
  const sent: ApprovalRequestMessage[] = [];
  const withdrawn: string[] = [];
  const approvals = new PendingApprovalRequests({
    onAsked: (asked) => sent.push(asked),
    onWithdrawn: ({ why }) => withdrawn.push(why),
  });
  const question: Question = {
    tool: "mcp__herd__ask",
    input: { question: "Which?" },
    question: "Which?",
    choices: null,
    free_text: true,
    multiple: false,
    default_reply: null,
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    ...more,
  };
  const gone = new AbortController();
  const ask = () => approvals.question(question, AbortSignal.any([gone.signal]));
  const answer = (line: object) => {
    const read = parseRunnerCommand(JSON.stringify({ type: "answer", message: "", ...line }));
    if (read?.type === "answer") approvals.answer(read);
  };
  return { approvals, sent, withdrawn, gone, ask, answer };
}

test("sends a question as a question and accepts a reply as the answer", async () => {
  const { sent, ask, answer, withdrawn, approvals } = createPendingRequests();
  const reply = ask();
  const [asked] = sent;
  expect(parseRunnerMessage(JSON.stringify(asked))).toMatchObject({
    type: "approval",
    question: { question: "Which?", choices: null, free_text: true },
  });
  expect(approvals.all).toEqual(sent);
  const { request_id } = asked ?? {};
  answer({ request_id, behavior: "allow", reply: { kind: "reply", text: "this" } });
  expect(await reply).toEqual({ kind: "reply", text: "this" });
  expect(withdrawn).toEqual(["answered"]);
  expect(approvals.all).toEqual([]);
});

test("does not treat an older fleet's permission as an answer", async () => {
  for (const behavior of ["allow", "deny"]) {
    const { sent, ask, answer } = createPendingRequests({ default_reply: "that" });
    const reply = ask();
    answer({ request_id: sent[0]?.request_id, behavior });
    expect(await reply).toEqual({ kind: "none", why: "nobody" });
  }
});

test("understands a permission request of an older runner", () => {
  const old = {
    type: "approval",
    request_id: "1",
    tool: "Bash",
    input: { command: "ls" },
    requested_at: "2030-01-01T00:00:00.000Z",
    expires_at: "2030-01-01T00:30:00.000Z",
  };
  expect(parseRunnerMessage(JSON.stringify(old))).toEqual(old);
});

test("ends a question itself shortly after its time without a fleet, with the allowed default", async () => {
  for (const [default_reply, reply] of [
    [null, { kind: "none", why: "expired" }],
    ["that", { kind: "default", text: "that" }],
  ] as const) {
    // The fleet has five seconds after the expiry to decide first.
    const { ask } = createPendingRequests({
      default_reply,
      expires_at: new Date(Date.now() - 4_900).toISOString(),
    });
    expect(await ask()).toEqual(reply);
  }
});

test("asks nothing after the run has ended and limits the requests", async () => {
  const { ask, gone, withdrawn, sent } = createPendingRequests();
  const open = Array.from({ length: 100 }, ask);
  expect(await ask()).toEqual({ kind: "none", why: "withdrawn" });
  expect(sent).toHaveLength(100);
  gone.abort();
  expect(new Set((await Promise.all(open)).map(({ kind }) => kind))).toEqual(new Set(["none"]));
  expect(withdrawn).toHaveLength(100);
});
