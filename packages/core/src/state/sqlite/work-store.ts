import type { WorkStore } from "../contract.ts";
import { newClaimId } from "../names.ts";
import {
  type NewWorkClaim,
  type WorkClaim,
  type WorkClaimChange,
  workClaimSchema,
} from "../work-claim.ts";
import type { Database, Value } from "./database.ts";
import { readRecord } from "./record.ts";

export class SqliteWorkStore implements WorkStore {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
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
    const isNew = this.#database.transaction(
      () => this.#database.run(sql, intended.id, JSON.stringify(intended)) > 0,
    );
    return isNew ? intended : undefined;
  }

  async change(id: string, change: WorkClaimChange): Promise<WorkClaim> {
    return this.#database.transaction(() => {
      const [claim] = this.#select("WHERE id = ?", id);
      if (!claim) throw new Error(`there is no claim ${id}`);
      const isOpen = ["claiming", "claimed"].includes(change.status ?? claim.status);
      const settled_at = isOpen ? null : this.#clock().toISOString();
      const changed = workClaimSchema.parse({ ...claim, ...change, settled_at });
      const sql = "UPDATE work_claims SET record = ? WHERE id = ?";
      this.#database.run(sql, JSON.stringify(changed), id);
      return changed;
    });
  }

  async open(): Promise<WorkClaim[]> {
    return this.#select("WHERE status IN ('claiming', 'claimed') ORDER BY seq");
  }

  async failures(source: string, item: string): Promise<number> {
    const sql = "SELECT count(*) AS n FROM work_claims WHERE source = ? AND item = ? AND failed";
    return Number(this.#database.get(sql, source, item)?.n);
  }

  async forJob(jobId: string): Promise<WorkClaim | undefined> {
    return this.#select("WHERE job_id = ?", jobId)[0];
  }

  #select(rest: string, ...values: Value[]): WorkClaim[] {
    return this.#database
      .all(`SELECT id, record FROM work_claims ${rest}`, ...values)
      .map((row) => readRecord(this.#database, workClaimSchema, row));
  }
}
