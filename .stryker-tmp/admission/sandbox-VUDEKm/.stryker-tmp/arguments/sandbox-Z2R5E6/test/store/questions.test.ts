import { expect, test } from "vitest";
import { parseReply } from "../../packages/protocol/src/records/question.ts";
import { openStores } from "./test-stores.ts";

const choices = ["Red", "Blue"].map((label) => ({ label, description: null }));
const facts = { question: "Which?", choices, free_text: false, multiple: false };

async function createQuestion(default_reply: string | null = null) {
  const stores = await openStores();
  const { job } = await stores.jobs.create({ agent: "coder", prompt: "p" });
  const approval = await stores.approvals.create({
    job_id: job.id,
    attempt: 1,
    request_id: "request-1",
    tool: "mcp__herd__ask",
    input: { question: "Which?" },
    question: { ...facts, default_reply },
    expires_at: "2030-01-01T00:10:00.000Z",
  });
  return { ...stores, job, approval };
}

test("keeps a question with its choices, and the reply with its author", async () => {
  const { approvals, approval, job } = await createQuestion();
  expect(approval).toMatchObject({ kind: "question", ...facts, answer: null, reply: null });
  await approvals.answer(approval.id, { reply: "blue" }, "kim");
  expect(await approvals.findByRequest(job.id, "request-1")).toMatchObject({
    id: approval.id,
    answer: "reply",
    reply: "Blue",
    answered_by: "kim",
    used: false,
  });
  expect(await approvals.findByRequest("job-other", "request-1")).toBeUndefined();
  expect(await approvals.consume(approval.id)).toBe(true);
  expect(await approvals.consume(approval.id)).toBe(false);
});

test("leaves the question open after an answer that does not fit", async () => {
  const { approvals, approval } = await createQuestion();
  for (const word of ["allow" as const, { reply: "Green" }, { reply: " " }]) {
    await expect(approvals.answer(approval.id, word, "kim")).rejects.toMatchObject({
      code: "reply_unfit",
    });
  }
  expect(await approvals.listOpen()).toEqual([approval]);
  const { applied } = await approvals.answer(approval.id, "deny", "kim");
  expect(applied).toBe(true);
});

test("accepts no reply for a permission request", async () => {
  const { approvals, jobs } = await openStores();
  const { job } = await jobs.create({ agent: "coder", prompt: "p" });
  const expires_at = "2030-01-01T00:10:00.000Z";
  const request = { job_id: job.id, attempt: 1, tool: "Bash", input: {}, expires_at };
  const { id, kind } = await approvals.create(request);
  expect(kind).toBe("permission");
  await expect(approvals.answer(id, { reply: "yes" }, "kim")).rejects.toMatchObject({
    code: "reply_unfit",
  });
});

test("uses the default as the reply without an author when the time is over", async () => {
  for (const [given, answer] of [
    [null, "expired"],
    ["Red", "default"],
  ] as const) {
    const { approvals, approval, time } = await createQuestion(given);
    time.now = Date.parse(approval.expires_at);
    const end = { answer, reply: given, answered_by: null };
    expect(await approvals.answer(approval.id, { reply: "Blue" }, "late")).toMatchObject({
      applied: false,
      approval: end,
    });
    expect(await approvals.get(approval.id)).toMatchObject(end);
  }
});

test("accepts a choice, or any text where it is allowed", () => {
  expect(parseReply({ choices, free_text: false }, " RED\n")).toBe("Red");
  expect(parseReply({ choices, free_text: true }, "Green")).toBe("Green");
  expect(parseReply({ choices: null, free_text: true }, "two\nlines ")).toBe("two\nlines");
  expect(() => parseReply({ choices, free_text: false }, "Green")).toThrow(/Red, Blue/);
  expect(() => parseReply({ choices: null, free_text: true }, "x".repeat(20_001))).toThrow(/20000/);
});
