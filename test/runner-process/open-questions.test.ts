import { expect, test } from "vitest";
import { OpenApprovals } from "../../packages/core/src/runner-process/approvals.ts";
import {
  type ApprovalAsked,
  readFromRunner,
  readToRunner,
} from "../../packages/core/src/runner-process/contract.ts";
import type { Question } from "../../packages/core/src/state/question.ts";

function asking(more: Partial<Question> = {}) {
  const told: ApprovalAsked[] = [];
  const withdrawn: string[] = [];
  const approvals = new OpenApprovals({
    asked: (asked) => told.push(asked),
    withdrawn: ({ why }) => withdrawn.push(why),
  });
  const question: Question = {
    tool: "mcp__herd__ask",
    input: { question: "Which?" },
    question: "Which?",
    choices: null,
    free_text: true,
    several: false,
    default_reply: null,
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    ...more,
  };
  const gone = new AbortController();
  const ask = () => approvals.question(question, AbortSignal.any([gone.signal]));
  const answer = (line: object) => {
    const read = readToRunner(JSON.stringify({ type: "answer", message: "", ...line }));
    if (read?.type === "answer") approvals.answer(read);
  };
  return { approvals, told, withdrawn, gone, ask, answer };
}

test("a question is told as such, and answered by a reply", async () => {
  const { told, ask, answer, withdrawn, approvals } = asking();
  const reply = ask();
  const [asked] = told;
  expect(readFromRunner(JSON.stringify(asked))).toMatchObject({
    type: "approval",
    question: { question: "Which?", choices: null, free_text: true },
  });
  expect(approvals.all).toEqual(told);
  const { request_id } = asked ?? {};
  answer({ request_id, behavior: "allow", reply: { kind: "reply", text: "this" } });
  expect(await reply).toEqual({ kind: "reply", text: "this" });
  expect(withdrawn).toEqual(["answered"]);
  expect(approvals.all).toEqual([]);
});

test("what a fleet of an older version allows is no answer", async () => {
  for (const behavior of ["allow", "deny"]) {
    const { told, ask, answer } = asking({ default_reply: "that" });
    const reply = ask();
    answer({ request_id: told[0]?.request_id, behavior });
    expect(await reply).toEqual({ kind: "none", why: "nobody" });
  }
});

test("a runner of an older version asks for permission, and is understood", () => {
  const old = {
    type: "approval",
    request_id: "1",
    tool: "Bash",
    input: { command: "ls" },
    asked_at: "2030-01-01T00:00:00.000Z",
    expires_at: "2030-01-01T00:30:00.000Z",
  };
  expect(readFromRunner(JSON.stringify(old))).toEqual(old);
});

test("where no fleet is, the runner ends a question itself, a little later, with the default that may count", async () => {
  for (const [default_reply, reply] of [
    [null, { kind: "none", why: "expired" }],
    ["that", { kind: "default", text: "that" }],
  ] as const) {
    // Five seconds are left to a fleet that would have the last word.
    const { ask } = asking({
      default_reply,
      expires_at: new Date(Date.now() - 4_900).toISOString(),
    });
    expect(await ask()).toEqual(reply);
  }
});

test("a run that is over asks no more, and none asks without end", async () => {
  const { ask, gone, withdrawn, told } = asking();
  const open = Array.from({ length: 100 }, ask);
  expect(await ask()).toEqual({ kind: "none", why: "withdrawn" });
  expect(told).toHaveLength(100);
  gone.abort();
  expect(new Set((await Promise.all(open)).map(({ kind }) => kind))).toEqual(new Set(["none"]));
  expect(withdrawn).toHaveLength(100);
});
