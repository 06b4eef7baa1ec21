import { expect, test } from "vitest";
import type { AdmissionDecider } from "../../packages/core/src/state/admission.ts";
import { newStores } from "./support.ts";

const name = { agent: "a", schedule: "nightly" };
const accept: AdmissionDecider = () => ({ kind: "accept", cancel: [] });
const refuse: AdmissionDecider = () => ({
  kind: "skip",
  outcome: { code: "gate_closed", message: "m", hint: "h" },
});

function at(hour: number): string {
  return new Date(Date.UTC(2030, 0, 1, hour)).toISOString();
}

function missed(from: number, until: number) {
  const reason = "superseded" as const;
  const span = { due_at: at(from), until: at(until), count: until - from + 1 };
  return { ...name, ...span, result: "missed" as const, reason, through: at(until) };
}

async function planned() {
  const stores = await newStores();
  const begun = [{ ...name, plan: { type: "cron" } }];
  await stores.schedules.change({ ended: [], begun }, new Date(stores.time.now));
  const admit = (hour: number, decide = accept) =>
    stores.jobs.admit({
      job: { ...name, prompt: "p", idempotency_key: `due ${hour}` },
      decide,
      due: { due_at: at(hour), through: at(hour) },
    });
  return { ...stores, admit };
}

test("a due time and its job are put down together, and the schedule is settled so far", async () => {
  const { schedules, jobs, admit } = await planned();
  const { job } = await admit(1);
  expect((await schedules.history({ limit: 10 })).records).toEqual([
    {
      ...name,
      ...{ due_at: at(1), until: at(1), count: 1, result: "ran", reason: null },
      ...{ job_id: job.id, settled_at: at(0) },
    },
  ]);
  expect(await schedules.mark(name)).toMatchObject({ through: at(1), busy: true, last_end: null });
  expect(await admit(1)).toMatchObject({ created: false, job: { id: job.id } });
  expect((await jobs.list({ limit: 10 })).jobs).toHaveLength(1);
});

test("a refusal says why, and an end is known", async () => {
  const { schedules, time, admit } = await planned();
  time.now += 5_000;
  const { job } = await admit(1, refuse);
  const [record] = (await schedules.history({ limit: 1 })).records;
  expect(record).toMatchObject({ result: "skipped", reason: "gate_closed", job_id: job.id });
  expect(await schedules.mark(name)).toMatchObject({ busy: false, last_end: job.finished_at });
});

test("a due time never has two records: who settles it second changes nothing, and is told so", async () => {
  const { schedules, time, admit } = await planned();
  const [first] = await schedules.record([missed(1, 1)]);
  const mark = await schedules.mark(name);
  time.now += 1_000;
  expect(await schedules.record([{ ...missed(1, 1), through: at(3) }])).toEqual([]);
  expect(await schedules.mark(name)).toEqual(mark);
  const both = await schedules.record([missed(1, 1), missed(2, 2)]);
  expect(both.map(({ due_at }) => due_at)).toEqual([at(2)]);
  expect((await schedules.history({ limit: 10 })).records).toEqual([both[0], first]);
  expect((await admit(2)).job).toMatchObject({ status: "skipped", outcome: { code: "overlap" } });
  expect((await schedules.history({ limit: 10 })).records).toEqual([both[0], first]);
});

test("several come in one transaction, in their order, and each sees those before it", async () => {
  const { jobs } = await planned();
  const seen: number[] = [];
  const decide: AdmissionDecider = ({ live }) => {
    seen.push(live.length);
    return { kind: "accept", cancel: [] };
  };
  const admitted = await jobs.admitAll(
    [1, 2, 3].map((hour) => ({
      job: { ...name, prompt: `p${hour}` },
      decide,
      wantsLive: true,
      due: { due_at: at(hour), through: at(hour) },
    })),
  );
  expect(seen).toEqual([0, 1, 2]);
  expect(admitted.map(({ job }) => job.prompt)).toEqual(["p1", "p2", "p3"]);
});

test("a clock that was set back opens what was missed ahead of it, and nothing else", async () => {
  const { schedules, time, admit } = await planned();
  await schedules.record([missed(1, 2), missed(4, 8)]);
  await admit(9);
  time.now = Date.parse(at(5));
  await schedules.reopen(name, new Date(time.now));
  const { records } = await schedules.history({ limit: 10 });
  expect(records.map(({ due_at }) => due_at)).toEqual([at(9), at(1)]);
  const mark = await schedules.mark(name);
  expect(mark).toMatchObject({ through: "2030-01-01T03:59:59.999Z", ahead: [at(9)] });
});

test("the ledger comes in pages, by agent and schedule, and old records go", async () => {
  const { schedules, time } = await planned();
  await schedules.record([1, 2, 3, 4, 5].map((hour) => missed(hour, hour)));
  await schedules.record([{ ...missed(2, 2), schedule: "other" }]);
  const first = await schedules.history({ ...name, limit: 3 });
  const second = await schedules.history({ ...name, limit: 3, cursor: first.next ?? "" });
  const hours = [...first.records, ...second.records].map(({ due_at }) => due_at);
  expect(hours).toEqual([5, 4, 3, 2, 1].map(at));
  expect(second.next).toBeNull();
  expect((await schedules.history({ limit: 10 })).records).toHaveLength(6);
  await expect(schedules.history({ limit: 1, cursor: "x" })).rejects.toMatchObject({
    code: "usage",
  });
  time.now += 1_000;
  await schedules.record([missed(6, 6)]);
  expect(await schedules.prune(new Date(time.now), 4)).toBe(4);
  expect(await schedules.prune(new Date(time.now), 4)).toBe(2);
  expect((await schedules.history({ limit: 10 })).records).toHaveLength(1);
});

test("a switch stays as it was left, and a schedule that is forgotten begins anew", async () => {
  const { schedules, time } = await planned();
  await schedules.switchTo(name, false);
  await schedules.switchTo(name, true);
  expect(await schedules.switches()).toEqual([{ ...name, enabled: true }]);
  await schedules.record([missed(1, 1)]);
  const mark = { ...name, plan: { type: "cron" } };
  const ended = [{ mark, missed: [missed(2, 3)] }];
  await schedules.change({ ended, begun: [] }, new Date(time.now));
  expect(await schedules.marks()).toEqual([]);
  expect((await schedules.history({ limit: 9 })).records.map(({ due_at }) => due_at)).toEqual([
    at(2),
    at(1),
  ]);
  time.now = Date.parse(at(7));
  const begun = [{ ...name, plan: { type: "at" } }];
  await schedules.change({ ended, begun }, new Date(time.now));
  expect(await schedules.marks()).toMatchObject([{ plan: { type: "at" }, through: at(7) }]);
});

test("a gate that is closed all day pushes no job out that ran", async () => {
  const { jobs, schedules, time, admit } = await planned();
  const { job } = await jobs.create({ agent: "a", prompt: "real" });
  await jobs.startAttempt(job.id);
  const outcome = { code: "success" as const, message: "m", hint: "h" };
  await jobs.update(job.id, { status: "completed", outcome });
  for (let hour = 1; hour < 9; hour++) await admit(hour, refuse);
  time.now += 3 * 24 * 3_600_000;
  expect(await jobs.prune({ keepPerAgent: 3, limit: 50 })).toEqual([]);
  expect((await schedules.history({ limit: 10 })).records).toHaveLength(8);
});
