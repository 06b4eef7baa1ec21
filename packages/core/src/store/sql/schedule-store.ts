import { randomBytes } from "node:crypto";
import type {
  DueTimePage,
  DueTimeQuery,
  DueTimeRecord,
  Job,
  ScheduleCursor,
  ScheduleRef,
} from "@herdctl/protocol";
import { dueTimeRecordSchema, scheduleCursorSchema } from "@herdctl/protocol/schemas";
import {
  type IntervalOverride,
  intervalOverrideSchema,
  type NewOneShot,
  type OneShot,
  oneShotSchema,
} from "../model/agent-schedule.ts";
import { pageLimit, readCursor, writeCursor } from "./page.ts";
import {
  execute,
  queryRow,
  queryRows,
  readRecord,
  type SqlDatabase,
  type SqlProgram,
  type SqlRow,
  SqlStore,
  type SqlValue,
} from "./sql-program.ts";

export class ScheduleStore extends SqlStore {
  /** Every schedule whose due times are counted. */
  async listCursors(): Promise<ScheduleCursor[]> {
    return this.database.read(() => this.#selectCursors(""));
  }

  async getCursor({ agent, schedule }: ScheduleRef): Promise<ScheduleCursor | undefined> {
    const where = "WHERE schedules.agent = ? AND schedules.schedule = ?";
    const [cursor] = await this.database.read(() => this.#selectCursors(where, agent, schedule));
    return cursor;
  }

  /**
   * Ends plans and starts others in one transaction. Resolves with false if a different
   * configuration is in force.
   */
  async applyPlanChange(change: SchedulePlanChange, now: Date): Promise<boolean> {
    return this.database.transaction(() => this.#applyPlanChangeInTransaction(change, now));
  }

  /**
   * Records due times that gave no job. Returns the new records: a due time that another node has
   * settled keeps its record.
   */
  async recordSettled(records: readonly SettledDueTime[]): Promise<DueTimeRecord[]> {
    return this.database.transaction(() => this.#recordInTransaction(records));
  }

  /** After the clock was set back: reopens due times after `now` that were recorded as missed. */
  async reopenMissed(name: ScheduleRef, now: Date): Promise<void> {
    await this.database.transaction(() => this.#reopenInTransaction(name, now));
  }

  /** The ledger, latest due time first. */
  async listDueRecords(query: DueTimeQuery): Promise<DueTimePage> {
    return this.database.read(() => readDuePage(this.database, query));
  }

  /** Deletes records that were settled before this, some at a time. Resolves with their number. */
  async prune(settledBefore: Date, limit: number): Promise<number> {
    const sql = `DELETE FROM due_times WHERE (agent, schedule, due_at) IN (
                   SELECT agent, schedule, due_at FROM due_times WHERE settled_at < ? LIMIT ?
                 )`;
    return this.database.transaction(() => execute(sql, settledBefore.toISOString(), limit));
  }

  /** Schedules that people switched on or off. All others follow the configuration. */
  async listSwitches(): Promise<(ScheduleRef & { enabled: boolean })[]> {
    const sql = "SELECT agent, schedule, enabled FROM schedule_switches";
    const rows = await this.database.read(() => queryRows(sql));
    return rows.map((row) => ({
      agent: String(row.agent),
      schedule: String(row.schedule),
      enabled: Number(row.enabled) === 1,
    }));
  }

  async setEnabled({ agent, schedule }: ScheduleRef, enabled: boolean): Promise<void> {
    const sql = `INSERT INTO schedule_switches (agent, schedule, enabled) VALUES (?, ?, ?)
                 ON CONFLICT (agent, schedule) DO UPDATE SET enabled = excluded.enabled`;
    await this.database.transaction(() => execute(sql, agent, schedule, enabled ? 1 : 0));
  }

  /** Runs that agents planned and that have not come due, soonest first. */
  async listOneShots(): Promise<OneShot[]> {
    return this.database.read(() => readOneShots(this.database));
  }

  /** With a known key, returns the first one and creates nothing. */
  async createOneShot(newOneShot: NewOneShot): Promise<OneShot> {
    return this.database.transaction(() => createOneShot(this.database, newOneShot, this.clock()));
  }

  /** Intervals that replace those of the configuration. */
  async listIntervalOverrides(): Promise<IntervalOverride[]> {
    const sql = "SELECT schedule AS id, record FROM schedule_intervals ORDER BY agent, schedule";
    const rows = await this.database.read(() => queryRows(sql));
    return rows.map((row) => readRecord(this.database, intervalOverrideSchema, row));
  }

  async setIntervalOverride(override: IntervalOverride): Promise<void> {
    const { agent, schedule } = override;
    const sql = `INSERT INTO schedule_intervals (agent, schedule, record) VALUES (?, ?, ?) ${upsertClause}`;
    await this.database.transaction(() => execute(sql, agent, schedule, JSON.stringify(override)));
  }

  /** Removes a planned run or a changed interval. Resolves with false if there is neither. */
  async removeAgentSchedule(name: ScheduleRef): Promise<boolean> {
    return this.database.transaction(() => this.#removeInTransaction(name));
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
      if (this.database.dialect.hasNodes && (yield* this.#hasSamePlan({ agent, schedule }, plan)))
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
    const settled_at = this.clock().toISOString();
    const recorded: DueTimeRecord[] = [];
    for (const { through, ...due } of dueTimes) {
      const record = dueTimeRecordSchema.parse({ ...due, job_id: null, settled_at });
      if (yield* insertDueRecord(this.database, record, through)) recorded.push(record);
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
    yield* advanceCursor(this.database, { agent, schedule }, through, () => true);
  }

  *#removeInTransaction({ agent, schedule }: ScheduleRef): SqlProgram<boolean> {
    let deletedCount = 0;
    for (const table of ["planned_runs", "schedule_intervals"]) {
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
    const { hint } = this.database.dialect;
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
      ...readRecord(this.database, scheduleCursorSchema, row),
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
  const rows = yield* queryRows(
    "SELECT schedule AS id, record FROM planned_runs ORDER BY schedule",
  );
  return rows
    .map((row) => readRecord(database, oneShotSchema, row))
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
}

function* createOneShot(
  database: SqlDatabase,
  newOneShot: NewOneShot,
  now: Date,
): SqlProgram<OneShot> {
  const existing = "SELECT schedule AS id, record FROM planned_runs WHERE key = ?";
  const first = yield* queryRow(existing, newOneShot.key);
  if (first) return readRecord(database, oneShotSchema, first);
  const schedule = `once-${randomBytes(4).toString("hex")}`;
  const oneShot = oneShotSchema.parse({ ...newOneShot, schedule, planned_at: now.toISOString() });
  yield* execute(
    "INSERT INTO planned_runs (agent, schedule, record, key) VALUES (?, ?, ?, ?)",
    oneShot.agent,
    schedule,
    JSON.stringify(oneShot),
    oneShot.key,
  );
  return oneShot;
}

/** Runs in the transaction that creates the job, so that a due time has both or neither. */
export function* recordDueTimeOfJob(
  database: SqlDatabase,
  { id, agent, schedule, status, outcome, created_at }: Job,
  { due_at, through }: { due_at: string; through: string },
): SqlProgram<void> {
  const isSkipped = status === "skipped";
  const record = dueTimeRecordSchema.parse({
    agent,
    schedule,
    due_at,
    last_due_at: due_at,
    count: 1,
    result: isSkipped ? "skipped" : "ran",
    reason: isSkipped ? outcome?.code : null,
    job_id: id,
    settled_at: created_at,
  });
  yield* insertDueRecord(database, record, through);
}

/** A due time has one record. Returns false if another node has settled it. */
function* insertDueRecord(
  database: SqlDatabase,
  record: DueTimeRecord,
  through: string,
): SqlProgram<boolean> {
  const { agent, schedule, due_at } = record;
  const sql = `INSERT INTO due_times (agent, schedule, due_at, record) VALUES (?, ?, ?, ?)
               ON CONFLICT (agent, schedule, due_at) DO NOTHING`;
  const isNew = (yield* execute(sql, agent, schedule, due_at, JSON.stringify(record))) > 0;
  if (isNew) yield* advanceCursor(database, record, through, (before) => before < through);
  return isNew;
}

export function* isDueTimeSettled(
  { agent, schedule }: { agent: string; schedule: string },
  dueAt: string,
): SqlProgram<boolean> {
  const sql = "SELECT 1 AS found FROM due_times WHERE agent = ? AND schedule = ? AND due_at = ?";
  return (yield* queryRow(sql, agent, schedule, dueAt)) !== undefined;
}

/** Updates how far a schedule is settled, if `shouldAdvance` accepts the recorded value. */
function* advanceCursor(
  database: SqlDatabase,
  { agent, schedule }: { agent: string; schedule: string },
  through: string,
  shouldAdvance: (before: string) => boolean,
): SqlProgram<void> {
  const where = "WHERE agent = ? AND schedule = ?";
  const sql = `SELECT schedule AS id, record FROM schedules ${where}`;
  const row = yield* queryRow(sql, agent, schedule);
  const scheduleCursor = row && readRecord(database, scheduleCursorSchema, row);
  if (!scheduleCursor || !shouldAdvance(scheduleCursor.settled_through)) return;
  const update = `UPDATE schedules SET record = ? ${where}`;
  yield* execute(
    update,
    JSON.stringify({ ...scheduleCursor, settled_through: through }),
    agent,
    schedule,
  );
}

/** Each filter uses an index, so that a page costs the same in a long ledger. */
function* readDuePage(database: SqlDatabase, query: DueTimeQuery): SqlProgram<DueTimePage> {
  const limit = pageLimit(query);
  const conditions: [sql: string, ...values: SqlValue[]][] = [];
  if (query.agent !== undefined) conditions.push(["agent = ?", query.agent]);
  if (query.schedule !== undefined) conditions.push(["schedule = ?", query.schedule]);
  if (query.cursor !== undefined) {
    conditions.push([
      "(due_at, agent, schedule) < (?, ?, ?)",
      ...readCursor(query.cursor, "text", "text", "text"),
    ]);
  }
  const where = conditions.map(([sql]) => sql).join(" AND ") || "true";
  const rows = yield* queryRows(
    `SELECT agent, schedule, due_at, due_at AS id, record FROM due_times WHERE ${where}
     ORDER BY due_at DESC, agent DESC, schedule DESC LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    limit + 1,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    due_times: page.map((row) => readRecord(database, dueTimeRecordSchema, row)),
    next_cursor:
      rows.length > page.length && last
        ? writeCursor(last.due_at, last.agent, last.schedule)
        : null,
  };
}

/** The changes that a configuration makes to the recorded plans. */
export interface SchedulePlanChange {
  /**
   * Plans as they were read, with records of their open due times. A plan that has changed since
   * stays.
   */
  removed: readonly { entry: ScheduleRef & { plan: unknown }; missed: readonly SettledDueTime[] }[];
  /** Their due times count from now and replace earlier plans of the schedule. */
  added: readonly (ScheduleRef & { plan: unknown })[];
  /** Hash of the configuration, where nodes share the state. */
  configHash?: string;
}

/** `through`: how far the schedule is settled with this record. */
export type SettledDueTime = Omit<DueTimeRecord, "settled_at" | "job_id"> & { through: string };
