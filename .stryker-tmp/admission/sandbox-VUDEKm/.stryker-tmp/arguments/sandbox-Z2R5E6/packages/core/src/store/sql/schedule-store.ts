import { randomBytes } from "node:crypto";
import type {
  DueTimePage,
  DueTimeQuery,
  DueTimeRecord,
  ScheduleCursor,
  ScheduleRef,
} from "@herdctl/protocol";
import { dueTimeRecordSchema, scheduleCursorSchema } from "@herdctl/protocol/schemas";
import type {
  SchedulePlanChange,
  ScheduleStore,
  SettledDueTime,
} from "../contracts/schedule-store.ts";
import {
  type IntervalOverride,
  intervalOverrideSchema,
  type NewOneShot,
  type OneShot,
  oneShotSchema,
} from "../model/agent-schedule.ts";
import { advanceCursor, insertDueRecord, readDuePage } from "./due-time-records.ts";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRow, queryRows, type SqlProgram, type SqlRow } from "./sql-program.ts";

export class SqlScheduleStore implements ScheduleStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async listCursors(): Promise<ScheduleCursor[]> {
    return this.#database.read(() => this.#selectCursors(""));
  }

  async getCursor({ agent, schedule }: ScheduleRef): Promise<ScheduleCursor | undefined> {
    const where = "WHERE schedules.agent = ? AND schedules.schedule = ?";
    const [cursor] = await this.#database.read(() => this.#selectCursors(where, agent, schedule));
    return cursor;
  }

  async applyPlanChange(change: SchedulePlanChange, now: Date): Promise<boolean> {
    return this.#database.transaction(() => this.#applyPlanChangeInTransaction(change, now));
  }

  async recordSettled(records: readonly SettledDueTime[]): Promise<DueTimeRecord[]> {
    return this.#database.transaction(() => this.#recordInTransaction(records));
  }

  async reopenMissed(name: ScheduleRef, now: Date): Promise<void> {
    await this.#database.transaction(() => this.#reopenInTransaction(name, now));
  }

  async listDueRecords(query: DueTimeQuery): Promise<DueTimePage> {
    return this.#database.read(() => readDuePage(this.#database, query));
  }

  async prune(settledBefore: Date, limit: number): Promise<number> {
    const sql = `DELETE FROM due_times WHERE (agent, schedule, due_at) IN (
                   SELECT agent, schedule, due_at FROM due_times WHERE settled_at < ? LIMIT ?
                 )`;
    return this.#database.transaction(() => execute(sql, settledBefore.toISOString(), limit));
  }

  async listSwitches(): Promise<(ScheduleRef & { enabled: boolean })[]> {
    const sql = "SELECT agent, schedule, enabled FROM schedule_switches";
    const rows = await this.#database.read(() => queryRows(sql));
    return rows.map((row) => ({
      agent: String(row.agent),
      schedule: String(row.schedule),
      enabled: Number(row.enabled) === 1,
    }));
  }

  async setEnabled({ agent, schedule }: ScheduleRef, enabled: boolean): Promise<void> {
    const sql = `INSERT INTO schedule_switches (agent, schedule, enabled) VALUES (?, ?, ?)
                 ON CONFLICT (agent, schedule) DO UPDATE SET enabled = excluded.enabled`;
    await this.#database.transaction(() => execute(sql, agent, schedule, enabled ? 1 : 0));
  }

  async listOneShots(): Promise<OneShot[]> {
    return this.#database.read(() => readOneShots(this.#database));
  }

  async createOneShot(newOneShot: NewOneShot): Promise<OneShot> {
    return this.#database.transaction(() =>
      createOneShot(this.#database, newOneShot, this.#clock()),
    );
  }

  async listIntervalOverrides(): Promise<IntervalOverride[]> {
    const sql = "SELECT schedule AS id, record FROM schedule_intervals ORDER BY agent, schedule";
    const rows = await this.#database.read(() => queryRows(sql));
    return rows.map((row) => readRecord(this.#database, intervalOverrideSchema, row));
  }

  async setIntervalOverride(override: IntervalOverride): Promise<void> {
    const { agent, schedule } = override;
    const sql = `INSERT INTO schedule_intervals (agent, schedule, record) VALUES (?, ?, ?) ${upsertClause}`;
    await this.#database.transaction(() => execute(sql, agent, schedule, JSON.stringify(override)));
  }

  async removeAgentSchedule(name: ScheduleRef): Promise<boolean> {
    return this.#database.transaction(() => this.#removeInTransaction(name));
  }

  *#applyPlanChangeInTransaction(
    { removed, added, configHash }: SchedulePlanChange,
    now: Date,
  ): SqlProgram<boolean> {
    if (configHash !== undefined && (yield* readConfigHash()) !== configHash) return false;
    for (const { entry, missed } of removed) {
      // Another node was faster, so the recorded plan is not the one to end.
      if (!(yield* this.#hasSamePlan(entry, entry.plan))) continue;
      yield* this.#recordInTransaction(missed);
      yield* execute(deleteScheduleSql, entry.agent, entry.schedule);
    }
    yield* this.#insertPlans(added, now);
    return true;
  }

  *#insertPlans(
    plans: readonly (ScheduleRef & { plan: unknown })[],
    since: Date,
  ): SqlProgram<void> {
    const at = since.toISOString();
    const sql = `INSERT INTO schedules (agent, schedule, record) VALUES (?, ?, ?) ${upsertClause}`;
    for (const { agent, schedule, plan } of plans) {
      if (this.#database.dialect.hasNodes && (yield* this.#hasSamePlan({ agent, schedule }, plan)))
        continue;
      const cursor = scheduleCursorSchema.parse({ plan, since: at, settled_through: at });
      yield* execute(sql, agent, schedule, JSON.stringify(cursor));
      yield* this.#reopenInTransaction({ agent, schedule }, since);
    }
  }

  /** Several nodes may find a new schedule at the same time; the first one starts it. */
  *#hasSamePlan({ agent, schedule }: ScheduleRef, plan: unknown): SqlProgram<boolean> {
    const sql = "SELECT record FROM schedules WHERE agent = ? AND schedule = ?";
    const row = yield* queryRow(sql, agent, schedule);
    if (!row) return false;
    const existing = scheduleCursorSchema.parse(JSON.parse(String(row.record)));
    return JSON.stringify(existing.plan) === JSON.stringify(plan);
  }

  *#recordInTransaction(dueTimes: readonly SettledDueTime[]): SqlProgram<DueTimeRecord[]> {
    const settled_at = this.#clock().toISOString();
    const recorded: DueTimeRecord[] = [];
    for (const { through, ...due } of dueTimes) {
      const record = dueTimeRecordSchema.parse({ ...due, job_id: null, settled_at });
      if (yield* insertDueRecord(this.#database, record, through)) recorded.push(record);
    }
    return recorded;
  }

  *#reopenInTransaction({ agent, schedule }: ScheduleRef, now: Date): SqlProgram<void> {
    const missed =
      "FROM due_times WHERE agent = ? AND schedule = ? AND last_due_at > ? AND result = 'missed'";
    const values = [agent, schedule, now.toISOString()] as const;
    const row = yield* queryRow(`SELECT min(due_at) AS first ${missed}`, ...values);
    const first = row?.first ? Date.parse(String(row.first)) - 1 : Number.POSITIVE_INFINITY;
    yield* execute(`DELETE ${missed}`, ...values);
    const through = new Date(Math.min(first, now.getTime())).toISOString();
    yield* advanceCursor(this.#database, { agent, schedule }, through, () => true);
  }

  *#removeInTransaction({ agent, schedule }: ScheduleRef): SqlProgram<boolean> {
    let deletedCount = 0;
    for (const table of ["one_shots", "schedule_intervals"]) {
      deletedCount += yield* execute(
        `DELETE FROM ${table} WHERE agent = ? AND schedule = ?`,
        agent,
        schedule,
      );
    }
    return deletedCount > 0;
  }

  /** Two statements for any number of schedules, because each is a round trip to the server. */
  *#selectCursors(where: string, ...values: string[]): SqlProgram<ScheduleCursor[]> {
    const { hint } = this.#database.dialect;
    const rows = yield* queryRows(
      `SELECT agent, schedule, schedule AS id, record,
         (SELECT max(finished_at) FROM jobs ${hint("jobs_schedule")}
          WHERE jobs.agent = schedules.agent AND jobs.schedule = schedules.schedule
            AND jobs.schedule IS NOT NULL) AS last_end,
         (SELECT count(*) FROM jobs ${hint("jobs_live")}
          WHERE jobs.agent = schedules.agent AND jobs.schedule = schedules.schedule
            AND status IN ('pending', 'running', 'waiting')) AS live
       FROM schedules ${where} ORDER BY agent, schedule`,
      ...values,
    );
    const settledAhead = yield* queryRows(
      `SELECT due_times.agent, due_times.schedule, due_at FROM schedules
       JOIN due_times ON due_times.agent = schedules.agent
         AND due_times.schedule = schedules.schedule AND due_at > settled_through
       ${where}
       ORDER BY due_times.agent, due_times.schedule, due_at`,
      ...values,
    );
    const settledAheadByKey = new Map<string, string[]>();
    for (const row of settledAhead) {
      const name = scheduleKey(row);
      settledAheadByKey.set(name, [...(settledAheadByKey.get(name) ?? []), String(row.due_at)]);
    }
    return rows.map((row) => ({
      agent: String(row.agent),
      schedule: String(row.schedule),
      ...readRecord(this.#database, scheduleCursorSchema, row),
      settled_ahead: settledAheadByKey.get(scheduleKey(row)) ?? [],
      last_end: row.last_end ? String(row.last_end) : null,
      busy: Number(row.live) > 0,
    }));
  }
}

const deleteScheduleSql = "DELETE FROM schedules WHERE agent = ? AND schedule = ?";

/** Only shared stores have this setting. */
function* readConfigHash(): SqlProgram<string | undefined> {
  const row = yield* queryRow("SELECT value FROM settings WHERE name = 'config_hash'");
  return row && String(row.value);
}

function scheduleKey({ agent, schedule }: SqlRow): string {
  return JSON.stringify([agent, schedule]);
}

const upsertClause = "ON CONFLICT (agent, schedule) DO UPDATE SET record = excluded.record";

function* readOneShots(database: SqlDatabase): SqlProgram<OneShot[]> {
  const rows = yield* queryRows("SELECT schedule AS id, record FROM one_shots ORDER BY schedule");
  return rows
    .map((row) => readRecord(database, oneShotSchema, row))
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
}

function* createOneShot(
  database: SqlDatabase,
  newOneShot: NewOneShot,
  now: Date,
): SqlProgram<OneShot> {
  const existing = "SELECT schedule AS id, record FROM one_shots WHERE key = ?";
  const first = yield* queryRow(existing, newOneShot.key);
  if (first) return readRecord(database, oneShotSchema, first);
  const schedule = `once-${randomBytes(4).toString("hex")}`;
  const oneShot = oneShotSchema.parse({ ...newOneShot, schedule, planned_at: now.toISOString() });
  yield* execute(
    "INSERT INTO one_shots (agent, schedule, record, key) VALUES (?, ?, ?, ?)",
    oneShot.agent,
    schedule,
    JSON.stringify(oneShot),
    oneShot.key,
  );
  return oneShot;
}
