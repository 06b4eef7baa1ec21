import type { ScheduleStore } from "../contract.ts";
import { type ScheduleSwitch, scheduleSwitchSchema } from "../schedule-switch.ts";
import type { Database } from "./database.ts";
import { readRecord } from "./record.ts";

export class SqliteScheduleStore implements ScheduleStore {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async switch(agent: string, schedule: string, enabled: boolean): Promise<void> {
    const since = this.#clock().toISOString();
    const record = scheduleSwitchSchema.parse({ agent, schedule, enabled, since });
    const sql =
      "INSERT OR REPLACE INTO schedule_switches (agent, schedule, record) VALUES (?, ?, ?)";
    this.#database.transaction(() =>
      this.#database.run(sql, agent, schedule, JSON.stringify(record)),
    );
  }

  async switches(): Promise<ScheduleSwitch[]> {
    return this.#database
      .all("SELECT agent AS id, record FROM schedule_switches ORDER BY agent, schedule")
      .map((row) => readRecord(this.#database, scheduleSwitchSchema, row));
  }
}
