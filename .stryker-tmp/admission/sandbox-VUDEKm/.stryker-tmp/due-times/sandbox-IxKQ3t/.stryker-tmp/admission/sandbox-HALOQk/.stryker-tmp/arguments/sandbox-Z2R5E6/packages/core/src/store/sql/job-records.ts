import { type Job, type JobChange, type NewJob, UserError } from "@herdctl/protocol";
import { jobChangeSchema, jobSchema } from "@herdctl/protocol/schemas";
import type { JobUpdateResult } from "../contracts/job-store.ts";
import { checkJobId, newJobId } from "../model/ids.ts";
import { decideJobChange, newJobRecord } from "../model/job-change.ts";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import {
  execute,
  queryRow,
  queryRows,
  type SqlProgram,
  type SqlRow,
  type SqlValue,
} from "./sql-program.ts";

/** Reads and changes job records within a transaction. */
export class JobRecords {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;
  readonly #outputFile: (id: string) => string;

  constructor(database: SqlDatabase, clock: () => Date, outputFile: (id: string) => string) {
    this.#database = database;
    this.#clock = clock;
    this.#outputFile = outputFile;
  }

  get(id: string): SqlProgram<Job | undefined> {
    return this.#selectOne("WHERE id = ?", id);
  }

  findByKey(key: string): SqlProgram<Job | undefined> {
    return this.#selectOne("WHERE idempotency_key = ?", key);
  }

  *getOrThrow(id: string): SqlProgram<Job> {
    const job = yield* this.get(id);
    if (!job) throw new UserError("job_not_found", `there is no job ${id}`);
    return job;
  }

  *select(clause: string, ...values: SqlValue[]): SqlProgram<Job[]> {
    const rows = yield* queryRows(`SELECT id, record FROM jobs ${clause}`, ...values);
    return rows.map((row) => this.parseRow(row));
  }

  *insert({ id: givenId, ...newJob }: NewJob): SqlProgram<Job> {
    const now = this.#clock();
    const id = checkJobId(givenId ?? newJobId(now));
    if (yield* this.get(id)) throw new UserError("usage", `there is already a job ${id}`);
    const job = newJobRecord(newJob, id, now, this.#outputFile(id));
    const { output_file: _, ...record } = job;
    yield* execute("INSERT INTO jobs (id, record) VALUES (?, ?)", id, JSON.stringify(record));
    return job;
  }

  /** `derivedFields`: fields that callers cannot set themselves. */
  *change(job: Job, change: JobChange, derivedFields?: Partial<Job>): SqlProgram<JobUpdateResult> {
    const decision = decideJobChange(job, jobChangeSchema.parse(change), this.#clock());
    if (decision.kind === "finished") return { applied: false, job };
    if (decision.kind === "refuse") throw new Error(`${job.id}: ${decision.reason}`);
    const changed = { ...decision.job, ...derivedFields };
    const { output_file: _, ...record } = changed;
    yield* execute("UPDATE jobs SET record = ? WHERE id = ?", JSON.stringify(record), job.id);
    return { applied: true, job: changed };
  }

  parseRow(row: SqlRow): Job {
    const output_file = this.#outputFile(String(row.id));
    return readRecord(this.#database, jobSchema, row, { output_file });
  }

  *#selectOne(where: string, value: SqlValue): SqlProgram<Job | undefined> {
    const row = yield* queryRow(`SELECT id, record FROM jobs ${where}`, value);
    return row && this.parseRow(row);
  }
}
