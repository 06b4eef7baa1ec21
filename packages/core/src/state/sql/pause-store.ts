import type { PauseStore } from "../contract.ts";
import { type Pause, type PauseSubject, pauseSchema } from "../pause.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, run } from "./steps.ts";

export class SqlPauseStore implements PauseStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async pause(subject: PauseSubject, reason: Pause["reason"], message: string): Promise<boolean> {
    const since = this.#clock().toISOString();
    const pause = pauseSchema.parse({ subject, reason, message, since });
    const sql = "INSERT INTO pauses (subject, record) VALUES (?, ?) ON CONFLICT DO NOTHING";
    const record = JSON.stringify(pause);
    return (await this.#database.transaction(() => run(sql, subject, record))) > 0;
  }

  async lift(subject: PauseSubject): Promise<boolean> {
    const sql = "DELETE FROM pauses WHERE subject = ?";
    return (await this.#database.transaction(() => run(sql, subject))) > 0;
  }

  async list(): Promise<Pause[]> {
    const sql = "SELECT subject AS id, record FROM pauses ORDER BY rowid";
    const rows = await this.#database.read(() => all(sql));
    return rows.map((row) => readRecord(this.#database, pauseSchema, row));
  }
}
