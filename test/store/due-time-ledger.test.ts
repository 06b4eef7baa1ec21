import { expect, test } from "vitest";
import type { AdmissionDecider } from "../../packages/core/src/store/model/admission.ts";
import { openStores } from "./test-stores.ts";

const name = { agent: "a", schedule: "nightly" };
const acceptDecider: AdmissionDecider = () => ({ kind: "accept", jobsToCancel: [] });
const refuseDecider: AdmissionDecider = () => ({
  kind: "skip",
  outcome: { code: "gate_closed", message: "m", hint: "h" },
});

function dueAt(hour: number): string {
  return new Date(Date.UTC(2030, 0, 1, hour)).toISOString();
}

function missed(from: number, until: number) {
  const reason = "superseded" as const;
  const span = { due_at: dueAt(from), last_due_at: dueAt(until), count: until - from + 1 };
  return { ...name, ...span, result: "missed" as const, reason, through: dueAt(until) };
}

async function createSchedule() {
  const stores = await openStores();
  const begun = [{ ...name, plan: { type: "cron" } }];
  await stores.schedules.applyPlanChange({ removed: [], added: begun }, new Date(stores.time.now));
  const admit = (hour: number, decide = acceptDecider) =>
    stores.jobs.admit({
      job: { ...name, prompt: "p", idempotency_key: `due ${hour}` },
      decide,
      due: { due_at: dueAt(hour), through: dueAt(hour) },
    });
  return { ...stores, admit };
}

test("records a due time with its job and settles the schedule up to it", async () => {
  const { schedules, jobs, admit } = await createSchedule();
  const { job } = await admit(1);
  expect((await schedules.listDueRecords({ limit: 10 })).due_times).toEqual([
    {
      ...name,
      ...{ due_at: dueAt(1), last_due_at: dueAt(1), count: 1, result: "ran", reason: null },
      ...{ job_id: job.id, settled_at: dueAt(0) },
    },
  ]);
  expect(await schedules.getCursor(name)).toMatchObject({
    settled_through: dueAt(1),
    busy: true,
    last_end: null,
  });
  expect(await admit(1)).toMatchObject({ created: false, job: { id: job.id } });
  expect((await jobs.list({ limit: 10 })).jobs).toHaveLength(1);
});

test("records the reason of a refusal, and the end of a job", async () => {
  const { schedules, time, admit } = await createSchedule();
  time.now += 5_000;
  const { job } = await admit(1, refuseDecider);
  const [record] = (await schedules.listDueRecords({ limit: 1 })).due_times;
  expect(record).toMatchObject({ result: "skipped", reason: "gate_closed", job_id: job.id });
  expect(await schedules.getCursor(name)).toMatchObject({ busy: false, last_end: job.finished_at });
});

test("records each due time once and rejects a second settlement", async () => {
  const { schedules, time, admit } = await createSchedule();
  const [first] = await schedules.recordSettled([missed(1, 1)]);
  const mark = await schedules.getCursor(name);
  time.now += 1_000;
  expect(await schedules.recordSettled([{ ...missed(1, 1), through: dueAt(3) }])).toEqual([]);
  expect(await schedules.getCursor(name)).toEqual(mark);
  const both = await schedules.recordSettled([missed(1, 1), missed(2, 2)]);
  expect(both.map(({ due_at }) => due_at)).toEqual([dueAt(2)]);
  expect((await schedules.listDueRecords({ limit: 10 })).due_times).toEqual([both[0], first]);
  expect((await admit(2)).job).toMatchObject({ status: "skipped", outcome: { code: "overlap" } });
  expect((await schedules.listDueRecords({ limit: 10 })).due_times).toEqual([both[0], first]);
});

test("settles several due times in one transaction, each seeing the previous ones", async () => {
  const { jobs } = await createSchedule();
  const seen: number[] = [];
  const decide: AdmissionDecider = ({ liveJobs }) => {
    seen.push(liveJobs.length);
    return { kind: "accept", jobsToCancel: [] };
  };
  const admitted = await jobs.admitAll(
    [1, 2, 3].map((hour) => ({
      job: { ...name, prompt: `p${hour}` },
      decide,
      needsLiveJobs: true,
      due: { due_at: dueAt(hour), through: dueAt(hour) },
    })),
  );
  expect(seen).toEqual([0, 1, 2]);
  expect(admitted.map(({ job }) => job.prompt)).toEqual(["p1", "p2", "p3"]);
});

test("reopens only missed due times after a clock that was set back", async () => {
  const { schedules, time, admit } = await createSchedule();
  await schedules.recordSettled([missed(1, 2), missed(4, 8)]);
  await admit(9);
  time.now = Date.parse(dueAt(5));
  await schedules.reopenMissed(name, new Date(time.now));
  const { due_times: records } = await schedules.listDueRecords({ limit: 10 });
  expect(records.map(({ due_at }) => due_at)).toEqual([dueAt(9), dueAt(1)]);
  const mark = await schedules.getCursor(name);
  expect(mark).toMatchObject({
    settled_through: "2030-01-01T03:59:59.999Z",
    settled_ahead: [dueAt(9)],
  });
});

test("lists the ledger by agent and schedule in pages, and removes old records", async () => {
  const { schedules, time } = await createSchedule();
  await schedules.recordSettled([1, 2, 3, 4, 5].map((hour) => missed(hour, hour)));
  await schedules.recordSettled([{ ...missed(2, 2), schedule: "other" }]);
  const first = await schedules.listDueRecords({ ...name, limit: 3 });
  const second = await schedules.listDueRecords({
    ...name,
    limit: 3,
    cursor: first.next_cursor ?? "",
  });
  const hours = [...first.due_times, ...second.due_times].map(({ due_at }) => due_at);
  expect(hours).toEqual([5, 4, 3, 2, 1].map(dueAt));
  expect(second.next_cursor).toBeNull();
  expect((await schedules.listDueRecords({ limit: 10 })).due_times).toHaveLength(6);
  await expect(schedules.listDueRecords({ limit: 1, cursor: "x" })).rejects.toMatchObject({
    code: "usage",
  });
  time.now += 1_000;
  await schedules.recordSettled([missed(6, 6)]);
  expect(await schedules.prune(new Date(time.now), 4)).toBe(4);
  expect(await schedules.prune(new Date(time.now), 4)).toBe(2);
  expect((await schedules.listDueRecords({ limit: 10 })).due_times).toHaveLength(1);
});

test("keeps a switch, and restarts a schedule that was forgotten", async () => {
  const { schedules, time } = await createSchedule();
  await schedules.setEnabled(name, false);
  await schedules.setEnabled(name, true);
  expect(await schedules.listSwitches()).toEqual([{ ...name, enabled: true }]);
  await schedules.recordSettled([missed(1, 1)]);
  const mark = { ...name, plan: { type: "cron" } };
  const ended = [{ entry: mark, missed: [missed(2, 3)] }];
  await schedules.applyPlanChange({ removed: ended, added: [] }, new Date(time.now));
  expect(await schedules.listCursors()).toEqual([]);
  expect(
    (await schedules.listDueRecords({ limit: 9 })).due_times.map(({ due_at }) => due_at),
  ).toEqual([dueAt(2), dueAt(1)]);
  time.now = Date.parse(dueAt(7));
  const begun = [{ ...name, plan: { type: "at" } }];
  await schedules.applyPlanChange({ removed: ended, added: begun }, new Date(time.now));
  expect(await schedules.listCursors()).toMatchObject([
    { plan: { type: "at" }, settled_through: dueAt(7) },
  ]);
});

test("keeps records of due times that ran despite many closed gates", async () => {
  const { jobs, schedules, time, admit } = await createSchedule();
  const { job } = await jobs.create({ agent: "a", prompt: "real" });
  await jobs.startAttempt(job.id);
  const outcome = { code: "success" as const, message: "m", hint: "h" };
  await jobs.update(job.id, { status: "completed", outcome });
  for (let hour = 1; hour < 9; hour++) await admit(hour, refuseDecider);
  time.now += 3 * 24 * 3_600_000;
  expect(await jobs.prune({ keepPerAgent: 3, limit: 50 })).toEqual([]);
  expect((await schedules.listDueRecords({ limit: 10 })).due_times).toHaveLength(8);
});
