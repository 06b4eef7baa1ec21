import { expect, test } from "vitest";
import { hashToolRequest } from "../../packages/core/src/store/model/approval.ts";
import { openStores } from "./test-stores.ts";

async function createApproval(input: unknown = { command: "rm -rf build" }) {
  const stores = await openStores();
  const { job } = await stores.jobs.create({ agent: "coder", prompt: "p" });
  const ask = (attempt: number, what = input) =>
    stores.approvals.create({
      job_id: job.id,
      attempt,
      tool: "Bash",
      input: what,
      expires_at: "2030-01-01T00:10:00.000Z",
    });
  return { ...stores, job, ask, approval: await ask(1) };
}

test("keeps a request exactly as asked until it is answered", async () => {
  const { approvals, approval, job } = await createApproval();
  expect(approval).toMatchObject({ input: { command: "rm -rf build" }, answer: null, used: false });
  expect(await approvals.listOpen()).toEqual([approval]);
  expect(await approvals.listOpen(job.id)).toEqual([approval]);
  expect(await approvals.listOpen("job-other")).toEqual([]);
  const { applied } = await approvals.answer(approval.id, "allow", "terminal");
  expect(applied).toBe(true);
  expect(await approvals.listOpen()).toEqual([]);
  expect(await approvals.get(approval.id)).toMatchObject({
    answer: "allow",
    answered_by: "terminal",
    answered_at: "2030-01-01T00:00:00.000Z",
  });
});

test("keeps the first answer", async () => {
  const { approvals, approval } = await createApproval();
  await approvals.answer(approval.id, "deny", "alice");
  expect(await approvals.answer(approval.id, "allow", "bob")).toMatchObject({
    applied: false,
    approval: { answer: "deny", answered_by: "alice" },
  });
  expect(await approvals.consume(approval.id)).toBe(false);
  await expect(approvals.answer("approval-none", "allow", "x")).rejects.toMatchObject({
    code: "usage",
  });
});

test("allows one use per permission", async () => {
  const { approvals, approval } = await createApproval();
  expect(await approvals.consume(approval.id)).toBe(false);
  await approvals.answer(approval.id, "allow", "terminal");
  expect(await approvals.consume(approval.id)).toBe(true);
  expect(await approvals.consume(approval.id)).toBe(false);
});

test("ignores an answer after the expiry", async () => {
  const { approvals, approval, time } = await createApproval();
  time.now = Date.parse(approval.expires_at);
  expect(await approvals.answer(approval.id, "allow", "late")).toMatchObject({
    applied: false,
    approval: { answer: "expired", answered_by: null },
  });
});

test("expires a request that no one answered in time", async () => {
  const { approvals, approval, time } = await createApproval();
  expect(await approvals.expire()).toEqual([]);
  time.now = Date.parse(approval.expires_at);
  expect(await approvals.expire()).toMatchObject([{ id: approval.id, answer: "expired" }]);
  expect(await approvals.expire()).toEqual([]);
});

test("voids the open requests of a dead attempt, and only its own", async () => {
  const { approvals, approval, ask, job } = await createApproval();
  const second = await ask(2);
  expect(await approvals.voidAttempt(job.id, 1)).toMatchObject([{ id: approval.id }]);
  expect(await approvals.answer(approval.id, "allow", "late")).toMatchObject({ applied: false });
  expect(await approvals.listOpen()).toEqual([second]);
});

test("applies an unused permission of a dead attempt once to the identical request of that job", async () => {
  const { approvals, approval, job, jobs } = await createApproval({ command: "ls", timeout: 5 });
  await approvals.answer(approval.id, "allow", "terminal");
  await approvals.voidAttempt(job.id, 1);
  const { job: other } = await jobs.create({ agent: "coder", prompt: "p" });
  const same = { timeout: 5, command: "ls" };
  expect(await approvals.consumeEarlier(other.id, "Bash", same)).toBeUndefined();
  expect(await approvals.consumeEarlier(job.id, "Bash", { ...same, timeout: 6 })).toBeUndefined();
  expect(await approvals.consumeEarlier(job.id, "Write", same)).toBeUndefined();
  expect(await approvals.consumeEarlier(job.id, "Bash", same)).toMatchObject({
    id: approval.id,
    used: true,
  });
  expect(await approvals.consumeEarlier(job.id, "Bash", same)).toBeUndefined();
});

test("distinguishes requests by every value, but not by the order of keys", () => {
  const hash = (input: unknown) => hashToolRequest("Bash", input);
  expect(hash({ a: 1, b: { c: [1, 2], d: null } })).toBe(hash({ b: { d: null, c: [1, 2] }, a: 1 }));
  const different = [{}, [], null, { a: 1 }, { a: "1" }, [{ a: 1 }], { a: [1, 2] }, { a: [2, 1] }];
  expect(new Set(different.map(hash)).size).toBe(different.length);
  expect(hashToolRequest("Bash", {})).not.toBe(hashToolRequest("Write", {}));
});
