import {
  type DueRecord,
  dueRecordSchema,
  type MarkedSchedule,
  type ScheduleName,
  scheduleMarkSchema,
} from "../due-time.ts";
import {
  type ChangedInterval,
  changedIntervalSchema,
  type NewOneShot,
  type OneShot,
} from "../one-shot.ts";
import type {
  DuePage,
  DueQuery,
  PlanChange,
  ScheduleStore,
  SettledDue,
} from "../schedule-store.ts";
import { readDuePage } from "./due-page.ts";
import { insertDue, settleThrough } from "./due-records.ts";
import { planOnce, readOneShots } from "./one-shots.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, type Row, run, type Steps } from "./steps.ts";

export class SqlScheduleStore implements ScheduleStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async marks(): Promise<MarkedSchedule[]> {
    return this.#database.read(() => this.#marks(""));
  }

  async mark({ agent, schedule }: ScheduleName): Promise<MarkedSchedule | undefined> {
    const where = "WHERE schedules.agent = ? AND schedules.schedule = ?";
    const [mark] = await this.#database.read(() => this.#marks(where, agent, schedule));
    return mark;
  }

  async change(change: PlanChange, now: Date): Promise<boolean> {
    return this.#database.transaction(() => this.#change(change, now));
  }

  async record(records: readonly SettledDue[]): Promise<DueRecord[]> {
    return this.#database.transaction(() => this.#record(records));
  }

  async reopen(name: ScheduleName, now: Date): Promise<void> {
    await this.#database.transaction(() => this.#reopen(name, now));
  }

  async history(query: DueQuery): Promise<DuePage> {
    return this.#database.read(() => readDuePage(this.#database, query));
  }

  async prune(settledBefore: Date, limit: number): Promise<number> {
    const sql = `DELETE FROM due_times WHERE (agent, schedule, due_at) IN (
                   SELECT agent, schedule, due_at FROM due_times WHERE settled_at < ? LIMIT ?
                 )`;
    return this.#database.transaction(() => run(sql, settledBefore.toISOString(), limit));
  }

  async switches(): Promise<(ScheduleName & { enabled: boolean })[]> {
    const sql = "SELECT agent, schedule, enabled FROM schedule_switches";
    const rows = await this.#database.read(() => all(sql));
    return rows.map((row) => ({
      agent: String(row.agent),
      schedule: String(row.schedule),
      enabled: Number(row.enabled) === 1,
    }));
  }

  async switchTo({ agent, schedule }: ScheduleName, enabled: boolean): Promise<void> {
    const sql = `INSERT INTO schedule_switches (agent, schedule, enabled) VALUES (?, ?, ?)
                 ON CONFLICT (agent, schedule) DO UPDATE SET enabled = excluded.enabled`;
    await this.#database.transaction(() => run(sql, agent, schedule, enabled ? 1 : 0));
  }

  async oneShots(): Promise<OneShot[]> {
    return this.#database.read(() => readOneShots(this.#database));
  }

  async planOnce(given: NewOneShot): Promise<OneShot> {
    return this.#database.transaction(() => planOnce(this.#database, given, this.#clock()));
  }

  async intervals(): Promise<ChangedInterval[]> {
    const sql = "SELECT schedule AS id, record FROM schedule_intervals ORDER BY agent, schedule";
    const rows = await this.#database.read(() => all(sql));
    return rows.map((row) => readRecord(this.#database, changedIntervalSchema, row));
  }

  async changeInterval(given: ChangedInterval): Promise<void> {
    const { agent, schedule } = given;
    const sql = `INSERT INTO schedule_intervals (agent, schedule, record) VALUES (?, ?, ?) ${replace}`;
    await this.#database.transaction(() => run(sql, agent, schedule, JSON.stringify(given)));
  }

  async takeBack(name: ScheduleName): Promise<boolean> {
    return this.#database.transaction(() => this.#takeBack(name));
  }

  *#change({ ended, begun, config }: PlanChange, now: Date): Steps<boolean> {
    if (config !== undefined && (yield* configInForce()) !== config) return false;
    for (const { mark, missed } of ended) {
      // Another node was quicker, and what is there by now is not what was to end.
      if (!(yield* this.#isPlanned(mark, mark.plan))) continue;
      yield* this.#record(missed);
      yield* run(forget, mark.agent, mark.schedule);
    }
    yield* this.#plan(begun, now);
    return true;
  }

  *#plan(plans: readonly (ScheduleName & { plan: unknown })[], since: Date): Steps<void> {
    const at = since.toISOString();
    const sql = `INSERT INTO schedules (agent, schedule, record) VALUES (?, ?, ?) ${replace}`;
    for (const { agent, schedule, plan } of plans) {
      if (this.#database.dialect.nodes && (yield* this.#isPlanned({ agent, schedule }, plan)))
        continue;
      const mark = scheduleMarkSchema.parse({ plan, since: at, through: at });
      yield* run(sql, agent, schedule, JSON.stringify(mark));
      yield* this.#reopen({ agent, schedule }, since);
    }
  }

  /** Several nodes find a new schedule at once: it begins when the first of them says so. */
  *#isPlanned({ agent, schedule }: ScheduleName, plan: unknown): Steps<boolean> {
    const sql = "SELECT record FROM schedules WHERE agent = ? AND schedule = ?";
    const row = yield* one(sql, agent, schedule);
    if (!row) return false;
    const known = scheduleMarkSchema.parse(JSON.parse(String(row.record)));
    return JSON.stringify(known.plan) === JSON.stringify(plan);
  }

  *#record(given: readonly SettledDue[]): Steps<DueRecord[]> {
    const settled_at = this.#clock().toISOString();
    const recorded: DueRecord[] = [];
    for (const { through, ...due } of given) {
      const record = dueRecordSchema.parse({ ...due, job_id: null, settled_at });
      if (yield* insertDue(this.#database, record, through)) recorded.push(record);
    }
    return recorded;
  }

  *#reopen({ agent, schedule }: ScheduleName, now: Date): Steps<void> {
    const missed =
      "FROM due_times WHERE agent = ? AND schedule = ? AND until > ? AND result = 'missed'";
    const values = [agent, schedule, now.toISOString()] as const;
    const row = yield* one(`SELECT min(due_at) AS first ${missed}`, ...values);
    const first = row?.first ? Date.parse(String(row.first)) - 1 : Number.POSITIVE_INFINITY;
    yield* run(`DELETE ${missed}`, ...values);
    const through = new Date(Math.min(first, now.getTime())).toISOString();
    yield* settleThrough(this.#database, { agent, schedule }, through, () => true);
  }

  *#takeBack({ agent, schedule }: ScheduleName): Steps<boolean> {
    let gone = 0;
    for (const table of ["one_shots", "schedule_intervals"]) {
      gone += yield* run(`DELETE FROM ${table} WHERE agent = ? AND schedule = ?`, agent, schedule);
    }
    return gone > 0;
  }

  /** Two statements however many schedules there are: each is a way to the server and back. */
  *#marks(where: string, ...values: string[]): Steps<MarkedSchedule[]> {
    const { hint } = this.#database.dialect;
    const rows = yield* all(
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
    const ahead = yield* all(
      `SELECT due_times.agent, due_times.schedule, due_at FROM schedules
       JOIN due_times ON due_times.agent = schedules.agent
         AND due_times.schedule = schedules.schedule AND due_at > through
       ${where}
       ORDER BY due_times.agent, due_times.schedule, due_at`,
      ...values,
    );
    const aheadOf = new Map<string, string[]>();
    for (const row of ahead) {
      const name = keyOf(row);
      aheadOf.set(name, [...(aheadOf.get(name) ?? []), String(row.due_at)]);
    }
    return rows.map((row) => ({
      agent: String(row.agent),
      schedule: String(row.schedule),
      ...readRecord(this.#database, scheduleMarkSchema, row),
      ahead: aheadOf.get(keyOf(row)) ?? [],
      last_end: row.last_end ? String(row.last_end) : null,
      busy: Number(row.live) > 0,
    }));
  }
}

const forget = "DELETE FROM schedules WHERE agent = ? AND schedule = ?";

/** Only a store that nodes share knows of it. */
function* configInForce(): Steps<string | undefined> {
  const row = yield* one("SELECT value FROM settings WHERE name = 'config_print'");
  return row && String(row.value);
}

function keyOf({ agent, schedule }: Row): string {
  return JSON.stringify([agent, schedule]);
}

const replace = "ON CONFLICT (agent, schedule) DO UPDATE SET record = excluded.record";
