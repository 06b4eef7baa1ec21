import type { WorkStore } from "../contract.ts";
import { newClaimId } from "../names.ts";
import {
  type NewWorkClaim,
  type WorkClaim,
  type WorkClaimChange,
  workClaimSchema,
} from "../work-claim.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, run, type Steps, type Value } from "./steps.ts";

export class SqlWorkStore implements WorkStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async intend(claim: NewWorkClaim): Promise<WorkClaim | undefined> {
    const now = this.#clock().toISOString();
    const intended = workClaimSchema.parse({
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
    const record = JSON.stringify(intended);
    const isNew = (await this.#database.transaction(() => run(sql, intended.id, record))) > 0;
    return isNew ? intended : undefined;
  }

  async change(id: string, change: WorkClaimChange): Promise<WorkClaim> {
    return this.#database.transaction(() => this.#change(id, change));
  }

  async open(): Promise<WorkClaim[]> {
    const rest = "WHERE status IN ('claiming', 'claimed') ORDER BY seq";
    return this.#database.read(() => this.#select(rest));
  }

  async failures(source: string, item: string): Promise<number> {
    const sql =
      "SELECT count(*) AS n FROM work_claims WHERE source = ? AND item = ? AND failed = 1";
    return Number((await this.#database.read(() => one(sql, source, item)))?.n);
  }

  async forJob(jobId: string): Promise<WorkClaim | undefined> {
    const [claim] = await this.#database.read(() => this.#select("WHERE job_id = ?", jobId));
    return claim;
  }

  *#change(id: string, change: WorkClaimChange): Steps<WorkClaim> {
    const [claim] = yield* this.#select("WHERE id = ?", id);
    if (!claim) throw new Error(`there is no claim ${id}`);
    const isOpen = ["claiming", "claimed"].includes(change.status ?? claim.status);
    const settled_at = isOpen ? null : this.#clock().toISOString();
    const changed = workClaimSchema.parse({ ...claim, ...change, settled_at });
    const sql = "UPDATE work_claims SET record = ? WHERE id = ?";
    yield* run(sql, JSON.stringify(changed), id);
    return changed;
  }

  *#select(rest: string, ...values: Value[]): Steps<WorkClaim[]> {
    const rows = yield* all(`SELECT id, record FROM work_claims ${rest}`, ...values);
    return rows.map((row) => readRecord(this.#database, workClaimSchema, row));
  }
}
