import { expect, test } from "vitest";
import { hashRequest } from "../../packages/core/src/state/approval.ts";
import { newStores } from "./support.ts";

async function askedFor(input: unknown = { command: "rm -rf build" }) {
  const stores = await newStores();
  const { job } = await stores.jobs.create({ agent: "coder", prompt: "p" });
  const ask = (attempt: number, what = input) =>
    stores.approvals.ask({
      job_id: job.id,
      attempt,
      tool: "Bash",
      input: what,
      expires_at: "2030-01-01T00:10:00.000Z",
    });
  return { ...stores, job, ask, approval: await ask(1) };
}

test("a request is kept exactly as asked until it is answered", async () => {
  const { approvals, approval, job } = await askedFor();
  expect(approval).toMatchObject({ input: { command: "rm -rf build" }, answer: null, used: false });
  expect(await approvals.open()).toEqual([approval]);
  expect(await approvals.open(job.id)).toEqual([approval]);
  expect(await approvals.open("job-other")).toEqual([]);
  const { applied } = await approvals.answer(approval.id, "allow", "terminal");
  expect(applied).toBe(true);
  expect(await approvals.open()).toEqual([]);
  expect(await approvals.get(approval.id)).toMatchObject({
    answer: "allow",
    answered_by: "terminal",
    answered_at: "2030-01-01T00:00:00.000Z",
  });
});

test("the first answer stands", async () => {
  const { approvals, approval } = await askedFor();
  await approvals.answer(approval.id, "deny", "alice");
  expect(await approvals.answer(approval.id, "allow", "bob")).toMatchObject({
    applied: false,
    approval: { answer: "deny", answered_by: "alice" },
  });
  expect(await approvals.use(approval.id)).toBe(false);
  await expect(approvals.answer("approval-none", "allow", "x")).rejects.toMatchObject({
    code: "usage",
  });
});

test("an allow is good for one use", async () => {
  const { approvals, approval } = await askedFor();
  expect(await approvals.use(approval.id)).toBe(false);
  await approvals.answer(approval.id, "allow", "terminal");
  expect(await approvals.use(approval.id)).toBe(true);
  expect(await approvals.use(approval.id)).toBe(false);
});

test("an answer after the time is none", async () => {
  const { approvals, approval, time } = await askedFor();
  time.now = Date.parse(approval.expires_at);
  expect(await approvals.answer(approval.id, "allow", "late")).toMatchObject({
    applied: false,
    approval: { answer: "expired", answered_by: null },
  });
});

test("what nobody answered in time expires", async () => {
  const { approvals, approval, time } = await askedFor();
  expect(await approvals.expire()).toEqual([]);
  time.now = Date.parse(approval.expires_at);
  expect(await approvals.expire()).toMatchObject([{ id: approval.id, answer: "expired" }]);
  expect(await approvals.expire()).toEqual([]);
});

test("when an attempt dies its open requests are void, and only its own", async () => {
  const { approvals, approval, ask, job } = await askedFor();
  const second = await ask(2);
  expect(await approvals.voidAttempt(job.id, 1)).toMatchObject([{ id: approval.id }]);
  expect(await approvals.answer(approval.id, "allow", "late")).toMatchObject({ applied: false });
  expect(await approvals.open()).toEqual([second]);
});

test("an allow that a dead attempt did not use counts once for the identical request of that job", async () => {
  const { approvals, approval, job, jobs } = await askedFor({ command: "ls", timeout: 5 });
  await approvals.answer(approval.id, "allow", "terminal");
  await approvals.voidAttempt(job.id, 1);
  const { job: other } = await jobs.create({ agent: "coder", prompt: "p" });
  const same = { timeout: 5, command: "ls" };
  expect(await approvals.useEarlier(other.id, "Bash", same)).toBeUndefined();
  expect(await approvals.useEarlier(job.id, "Bash", { ...same, timeout: 6 })).toBeUndefined();
  expect(await approvals.useEarlier(job.id, "Write", same)).toBeUndefined();
  expect(await approvals.useEarlier(job.id, "Bash", same)).toMatchObject({
    id: approval.id,
    used: true,
  });
  expect(await approvals.useEarlier(job.id, "Bash", same)).toBeUndefined();
});

test("requests are told apart by every value, not by the order of keys", () => {
  const hash = (input: unknown) => hashRequest("Bash", input);
  expect(hash({ a: 1, b: { c: [1, 2], d: null } })).toBe(hash({ b: { d: null, c: [1, 2] }, a: 1 }));
  const different = [{}, [], null, { a: 1 }, { a: "1" }, [{ a: 1 }], { a: [1, 2] }, { a: [2, 1] }];
  expect(new Set(different.map(hash)).size).toBe(different.length);
  expect(hashRequest("Bash", {})).not.toBe(hashRequest("Write", {}));
});
