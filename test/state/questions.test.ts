import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approvalSchema } from "@herdctl/core";
import { expect, onTestFinished, test } from "vitest";
import { readReply } from "../../packages/core/src/state/question.ts";
import { migrations } from "../../packages/core/src/state/sqlite/migrations.ts";
import { openForWriting } from "../../packages/core/src/state/sqlite/open.ts";
import { newStores } from "./support.ts";

const choices = ["Red", "Blue"].map((label) => ({ label, description: null }));
const facts = { question: "Which?", choices, free_text: false, several: false };

async function asked(default_reply: string | null = null) {
  const stores = await newStores();
  const { job } = await stores.jobs.create({ agent: "coder", prompt: "p" });
  const approval = await stores.approvals.ask({
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

test("a question is kept with its choices, and the reply with who gave it", async () => {
  const { approvals, approval, job } = await asked();
  expect(approval).toMatchObject({ kind: "question", ...facts, answer: null, reply: null });
  await approvals.answer(approval.id, { reply: "blue" }, "kim");
  expect(await approvals.ofRequest(job.id, "request-1")).toMatchObject({
    id: approval.id,
    answer: "reply",
    reply: "Blue",
    answered_by: "kim",
    used: false,
  });
  expect(await approvals.ofRequest("job-other", "request-1")).toBeUndefined();
  expect(await approvals.use(approval.id)).toBe(true);
  expect(await approvals.use(approval.id)).toBe(false);
});

test("a word that does not fit leaves the question open", async () => {
  const { approvals, approval } = await asked();
  for (const word of ["allow" as const, { reply: "Green" }, { reply: " " }]) {
    await expect(approvals.answer(approval.id, word, "kim")).rejects.toMatchObject({
      code: "reply_unfit",
    });
  }
  expect(await approvals.open()).toEqual([approval]);
  const { applied } = await approvals.answer(approval.id, "deny", "kim");
  expect(applied).toBe(true);
});

test("a request for permission takes no reply", async () => {
  const { approvals, jobs } = await newStores();
  const { job } = await jobs.create({ agent: "coder", prompt: "p" });
  const expires_at = "2030-01-01T00:10:00.000Z";
  const request = { job_id: job.id, attempt: 1, tool: "Bash", input: {}, expires_at };
  const { id, kind } = await approvals.ask(request);
  expect(kind).toBe("permission");
  await expect(approvals.answer(id, { reply: "yes" }, "kim")).rejects.toMatchObject({
    code: "reply_unfit",
  });
});

test("when the time is over a default is the reply, where there is one, and it is nobody's", async () => {
  for (const [given, answer] of [
    [null, "expired"],
    ["Red", "default"],
  ] as const) {
    const { approvals, approval, time } = await asked(given);
    time.now = Date.parse(approval.expires_at);
    const end = { answer, reply: given, answered_by: null };
    expect(await approvals.answer(approval.id, { reply: "Blue" }, "late")).toMatchObject({
      applied: false,
      approval: end,
    });
    expect(await approvals.get(approval.id)).toMatchObject(end);
  }
});

test("a reply is one of the choices, or any text where that is allowed", () => {
  expect(readReply({ choices, free_text: false }, " RED\n")).toBe("Red");
  expect(readReply({ choices, free_text: true }, "Green")).toBe("Green");
  expect(readReply({ choices: null, free_text: true }, "two\nlines ")).toBe("two\nlines");
  expect(() => readReply({ choices, free_text: false }, "Green")).toThrow(/Red, Blue/);
  expect(() => readReply({ choices: null, free_text: true }, "x".repeat(20_001))).toThrow(/20000/);
});

test("what an older version put on record is a request for permission", () => {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-questions-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "herd.db");
  const old = openForWriting(file, migrations.slice(0, 1));
  const job = { agent: "a", status: "pending", created_at: "2030" };
  old.run("INSERT INTO jobs (id, record) VALUES ('one', ?)", JSON.stringify(job));
  const record = {
    id: "approval-1",
    job_id: "one",
    attempt: 1,
    tool: "Bash",
    input: { command: "ls" },
    input_hash: "x",
    asked_at: "2030-01-01T00:00:00.000Z",
    expires_at: "2030-01-01T00:10:00.000Z",
    answer: "allow",
    answered_by: "kim",
    answered_at: "2030-01-01T00:01:00.000Z",
    used: false,
  };
  const insert = "INSERT INTO approvals (id, job_id, record) VALUES ('approval-1', 'one', ?)";
  old.run(insert, JSON.stringify(record));
  old.close();
  const now = openForWriting(file);
  onTestFinished(() => now.close());
  const kept = JSON.parse(String(now.get("SELECT record FROM approvals")?.record));
  expect(approvalSchema.parse(kept)).toMatchObject({
    ...record,
    kind: "permission",
    question: null,
    reply: null,
  });
});
