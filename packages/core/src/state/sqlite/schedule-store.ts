import type { DuePage, DueQuery, ScheduleStore, SettledDue } from "../contract.ts";
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
import type { Database, Row } from "./database.ts";
import { readDuePage } from "./due-page.ts";
import { insertDue } from "./due-records.ts";
import { readLiveOf } from "./live-jobs.ts";
import { planOnce, readOneShots } from "./one-shots.ts";
import { readRecord } from "./record.ts";

export class SqliteScheduleStore implements ScheduleStore {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async marks(): Promise<MarkedSchedule[]> {
    const sql = "SELECT agent, schedule, schedule AS id, record FROM schedules";
    return this.#database.all(sql).map((row) => this.#marked(row));
  }

  async mark({ agent, schedule }: ScheduleName): Promise<MarkedSchedule | undefined> {
    const sql =
      "SELECT agent, schedule, schedule AS id, record FROM schedules WHERE agent = ? AND schedule = ?";
    const row = this.#database.get(sql, agent, schedule);
    return row && this.#marked(row);
  }

  async plan(plans: readonly (ScheduleName & { plan: unknown })[], since: Date): Promise<void> {
    const at = since.toISOString();
    const sql = "INSERT OR REPLACE INTO schedules (agent, schedule, record) VALUES (?, ?, ?)";
    this.#database.transaction(() => {
      for (const { agent, schedule, plan } of plans) {
        const mark = scheduleMarkSchema.parse({ plan, since: at, through: at });
        this.#database.run(sql, agent, schedule, JSON.stringify(mark));
        this.#reopen({ agent, schedule }, since);
      }
    });
  }

  async forget({ agent, schedule }: ScheduleName): Promise<void> {
    const sql = "DELETE FROM schedules WHERE agent = ? AND schedule = ?";
    this.#database.transaction(() => this.#database.run(sql, agent, schedule));
  }

  async record(records: readonly SettledDue[]): Promise<DueRecord[]> {
    const settled_at = this.#clock().toISOString();
    return this.#database.transaction(() =>
      records.map(({ through, ...given }) => {
        const record = dueRecordSchema.parse({ ...given, job_id: null, settled_at });
        insertDue(this.#database, record, through);
        return record;
      }),
    );
  }

  async reopen(name: ScheduleName, now: Date): Promise<void> {
    this.#database.transaction(() => this.#reopen(name, now));
  }

  async history(query: DueQuery): Promise<DuePage> {
    return readDuePage(this.#database, query);
  }

  async prune(settledBefore: Date, limit: number): Promise<number> {
    const sql = `DELETE FROM due_times WHERE (agent, schedule, due_at) IN (
                   SELECT agent, schedule, due_at FROM due_times WHERE settled_at < ? LIMIT ?
                 )`;
    return this.#database.transaction(() =>
      this.#database.run(sql, settledBefore.toISOString(), limit),
    );
  }

  async switches(): Promise<(ScheduleName & { enabled: boolean })[]> {
    return this.#database
      .all("SELECT agent, schedule, enabled FROM schedule_switches")
      .map((row) => ({
        agent: String(row.agent),
        schedule: String(row.schedule),
        enabled: row.enabled === 1,
      }));
  }

  async switchTo({ agent, schedule }: ScheduleName, enabled: boolean): Promise<void> {
    const sql =
      "INSERT OR REPLACE INTO schedule_switches (agent, schedule, enabled) VALUES (?, ?, ?)";
    this.#database.transaction(() => this.#database.run(sql, agent, schedule, enabled ? 1 : 0));
  }

  async oneShots(): Promise<OneShot[]> {
    return readOneShots(this.#database);
  }

  async planOnce(given: NewOneShot): Promise<OneShot> {
    return this.#database.transaction(() => planOnce(this.#database, given, this.#clock()));
  }

  async intervals(): Promise<ChangedInterval[]> {
    const sql = "SELECT schedule AS id, record FROM schedule_intervals ORDER BY agent, schedule";
    return this.#database
      .all(sql)
      .map((row) => readRecord(this.#database, changedIntervalSchema, row));
  }

  async changeInterval(given: ChangedInterval): Promise<void> {
    const { agent, schedule } = given;
    const sql =
      "INSERT OR REPLACE INTO schedule_intervals (agent, schedule, record) VALUES (?, ?, ?)";
    this.#database.transaction(() =>
      this.#database.run(sql, agent, schedule, JSON.stringify(given)),
    );
  }

  async takeBack({ agent, schedule }: ScheduleName): Promise<boolean> {
    const where = "WHERE agent = ? AND schedule = ?";
    return this.#database.transaction(() => {
      const gone = ["one_shots", "schedule_intervals"].map((table) =>
        this.#database.run(`DELETE FROM ${table} ${where}`, agent, schedule),
      );
      return gone.some((count) => count > 0);
    });
  }

  #reopen({ agent, schedule }: ScheduleName, now: Date): void {
    const missed =
      "FROM due_times WHERE agent = ? AND schedule = ? AND until > ? AND result = 'missed'";
    const values = [agent, schedule, now.toISOString()] as const;
    const row = this.#database.get(`SELECT min(due_at) AS first ${missed}`, ...values);
    const first = row?.first ? Date.parse(String(row.first)) - 1 : Number.POSITIVE_INFINITY;
    this.#database.run(`DELETE ${missed}`, ...values);
    this.#database.run(
      `UPDATE schedules SET record = json_set(record, '$.through', ?)
       WHERE agent = ? AND schedule = ?`,
      new Date(Math.min(first, now.getTime())).toISOString(),
      agent,
      schedule,
    );
  }

  #marked(row: Row): MarkedSchedule {
    const [agent, schedule] = [String(row.agent), String(row.schedule)];
    const mark = readRecord(this.#database, scheduleMarkSchema, row);
    const ahead = this.#database.all(
      "SELECT due_at FROM due_times WHERE agent = ? AND schedule = ? AND due_at > ?",
      agent,
      schedule,
      mark.through,
    );
    const last = this.#database.get(
      `SELECT max(finished_at) AS time FROM jobs INDEXED BY jobs_schedule
       WHERE agent = ? AND schedule = ? AND schedule IS NOT NULL`,
      agent,
      schedule,
    );
    return {
      agent,
      schedule,
      ...mark,
      ahead: ahead.map(({ due_at }) => String(due_at)),
      last_end: last?.time ? String(last.time) : null,
      busy: readLiveOf(this.#database, agent, schedule).length > 0,
    };
  }
}
