import type { PauseStore } from "../contract.ts";
import { type Pause, type PauseSubject, pauseSchema } from "../pause.ts";
import type { Database } from "./database.ts";
import { readRecord } from "./record.ts";

export class SqlitePauseStore implements PauseStore {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async pause(subject: PauseSubject, reason: Pause["reason"], message: string): Promise<boolean> {
    const since = this.#clock().toISOString();
    const pause = pauseSchema.parse({ subject, reason, message, since });
    const sql = "INSERT INTO pauses (subject, record) VALUES (?, ?) ON CONFLICT DO NOTHING";
    return this.#database.transaction(
      () => this.#database.run(sql, subject, JSON.stringify(pause)) > 0,
    );
  }

  async lift(subject: PauseSubject): Promise<boolean> {
    const sql = "DELETE FROM pauses WHERE subject = ?";
    return this.#database.transaction(() => this.#database.run(sql, subject) > 0);
  }

  async list(): Promise<Pause[]> {
    return this.#database
      .all("SELECT subject AS id, record FROM pauses ORDER BY rowid")
      .map((row) => readRecord(this.#database, pauseSchema, row));
  }
}
