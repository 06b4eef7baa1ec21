import type { WorkClaimStore } from "../contracts/stores.ts";
import { newClaimId } from "../model/ids.ts";
import {
  type NewWorkClaim,
  type WorkClaim,
  type WorkClaimChange,
  workClaimSchema,
} from "../model/work-claim.ts";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRow, queryRows, type SqlProgram, type SqlValue } from "./sql-program.ts";

export class SqlWorkClaimStore implements WorkClaimStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async createClaim(claim: NewWorkClaim): Promise<WorkClaim | undefined> {
    const now = this.#clock().toISOString();
    const claimRecord = workClaimSchema.parse({
      ...claim,
      id: newClaimId(),
      status: "claiming",
      handle: null,
      claimed_at: now,
      renewed_at: now,
      settled_at: null,
      announced: false,
      failed: false,
      note: null,
    });
    const sql = "INSERT INTO work_claims (id, record) VALUES (?, ?) ON CONFLICT DO NOTHING";
    const record = JSON.stringify(claimRecord);
    const isNew =
      (await this.#database.transaction(() => execute(sql, claimRecord.id, record))) > 0;
    return isNew ? claimRecord : undefined;
  }

  async updateClaim(id: string, change: WorkClaimChange): Promise<WorkClaim> {
    return this.#database.transaction(() => this.#updateInTransaction(id, change));
  }

  async listOpen(): Promise<WorkClaim[]> {
    const clause = "WHERE status IN ('claiming', 'claimed') ORDER BY seq";
    return this.#database.read(() => this.#select(clause));
  }

  async countFailures(source: string, item: string): Promise<number> {
    const sql =
      "SELECT count(*) AS n FROM work_claims WHERE source = ? AND item = ? AND failed = 1";
    return Number((await this.#database.read(() => queryRow(sql, source, item)))?.n);
  }

  async findByJob(jobId: string): Promise<WorkClaim | undefined> {
    const [claim] = await this.#database.read(() => this.#select("WHERE job_id = ?", jobId));
    return claim;
  }

  *#updateInTransaction(id: string, change: WorkClaimChange): SqlProgram<WorkClaim> {
    const [claim] = yield* this.#select("WHERE id = ?", id);
    if (!claim) throw new Error(`there is no claim ${id}`);
    const isOpen = ["claiming", "claimed"].includes(change.status ?? claim.status);
    const settled_at = isOpen ? null : this.#clock().toISOString();
    const changed = workClaimSchema.parse({ ...claim, ...change, settled_at });
    const sql = "UPDATE work_claims SET record = ? WHERE id = ?";
    yield* execute(sql, JSON.stringify(changed), id);
    return changed;
  }

  *#select(clause: string, ...values: SqlValue[]): SqlProgram<WorkClaim[]> {
    const rows = yield* queryRows(`SELECT id, record FROM work_claims ${clause}`, ...values);
    return rows.map((row) => readRecord(this.#database, workClaimSchema, row));
  }
}
