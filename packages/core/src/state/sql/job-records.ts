import { UserError } from "../../errors/user-error.ts";
import { type Job, type JobChange, jobChangeSchema, jobSchema, type NewJob } from "../job.ts";
import { acceptJob, changeJob } from "../job-change.ts";
import type { JobUpdate } from "../job-store.ts";
import { checkJobId, newJobId } from "../names.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, type Row, run, type Steps, type Value } from "./steps.ts";

/** What is done to the records of jobs within a transaction. */
export class JobRecords {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;
  readonly #outputFile: (id: string) => string;

  constructor(database: SqlDatabase, clock: () => Date, outputFile: (id: string) => string) {
    this.#database = database;
    this.#clock = clock;
    this.#outputFile = outputFile;
  }

  get(id: string): Steps<Job | undefined> {
    return this.#one("WHERE id = ?", id);
  }

  findByKey(key: string): Steps<Job | undefined> {
    return this.#one("WHERE idempotency_key = ?", key);
  }

  *expect(id: string): Steps<Job> {
    const job = yield* this.get(id);
    if (!job) throw new UserError("job_not_found", `there is no job ${id}`);
    return job;
  }

  *select(rest: string, ...values: Value[]): Steps<Job[]> {
    const rows = yield* all(`SELECT id, record FROM jobs ${rest}`, ...values);
    return rows.map((row) => this.read(row));
  }

  *insert({ id: givenId, ...given }: NewJob): Steps<Job> {
    const now = this.#clock();
    const id = checkJobId(givenId ?? newJobId(now));
    if (yield* this.get(id)) throw new UserError("usage", `there is already a job ${id}`);
    const job = acceptJob(given, id, now, this.#outputFile(id));
    const { output_file: _, ...record } = job;
    yield* run("INSERT INTO jobs (id, record) VALUES (?, ?)", id, JSON.stringify(record));
    return job;
  }

  /** `more` is what nobody asks for and follows from the change. */
  *change(job: Job, change: JobChange, more?: Partial<Job>): Steps<JobUpdate> {
    const decision = changeJob(job, jobChangeSchema.parse(change), this.#clock());
    if (decision.kind === "finished") return { applied: false, job };
    if (decision.kind === "refuse") throw new Error(`${job.id}: ${decision.reason}`);
    const changed = { ...decision.job, ...more };
    const { output_file: _, ...record } = changed;
    yield* run("UPDATE jobs SET record = ? WHERE id = ?", JSON.stringify(record), job.id);
    return { applied: true, job: changed };
  }

  read(row: Row): Job {
    const output_file = this.#outputFile(String(row.id));
    return readRecord(this.#database, jobSchema, row, { output_file });
  }

  *#one(where: string, value: Value): Steps<Job | undefined> {
    const row = yield* one(`SELECT id, record FROM jobs ${where}`, value);
    return row && this.read(row);
  }
}
