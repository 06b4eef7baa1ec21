import { UserError } from "../../errors/user-error.ts";
import type {
  AdmissionDecider,
  AdmissionDecision,
  Admitted,
  Application,
  JobPage,
  JobQuery,
  JobStore,
  JobUpdate,
  LeaseTerms,
  Retention,
  SessionEnd,
} from "../contract.ts";
import {
  type Attempt,
  type AttemptEnd,
  attemptSchema,
  type Job,
  type JobChange,
  jobChangeSchema,
  jobSchema,
  type LiveJob,
  type NewJob,
  newJobSchema,
} from "../job.ts";
import { acceptJob, changeJob, withAttempt } from "../job-change.ts";
import { checkJobId, newJobId } from "../names.ts";
import { isAlive } from "../process-identity.ts";
import { dayInUtc } from "../spending.ts";
import { readChainSpent } from "./chain-spent.ts";
import type { Database, Row, Value } from "./database.ts";
import { addDayCosts } from "./day-costs.ts";
import { recordDelivery } from "./delivery-records.ts";
import { recordJobOfDue } from "./due-records.ts";
import { readPage } from "./job-page.ts";
import { readLiveJobs, readLiveOf } from "./live-jobs.ts";
import { pruneJobs } from "./prune-jobs.ts";
import { readRecord } from "./record.ts";
import { leaseSession, releaseSession, saveSession } from "./session-records.ts";
import { RunningSpending } from "./spending.ts";

export class SqliteJobStore implements JobStore {
  readonly #database: Database;
  readonly #clock: () => Date;
  readonly #outputFile: (id: string) => string;
  readonly #dayName: (at: Date) => string;
  readonly #spending = new WeakMap<object, RunningSpending>();

  constructor(
    database: Database,
    clock: () => Date,
    outputFile: (id: string) => string,
    dayName: (at: Date) => string = dayInUtc,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#outputFile = outputFile;
    this.#dayName = dayName;
  }

  async create(job: NewJob): Promise<{ job: Job; created: boolean }> {
    const { job: recorded, created } = await this.admit({ job, decide: acceptAll });
    return { job: recorded, created };
  }

  async admit(application: Application): Promise<Admitted> {
    const [admitted] = await this.admitAll([application]);
    if (!admitted) throw new Error("an application was not answered");
    return admitted;
  }

  async admitAll(applications: readonly Application[]): Promise<Admitted[]> {
    const given = applications.map((one) => ({ ...one, job: newJobSchema.parse(one.job) }));
    return this.#database.together((transaction) => {
      const spending = this.#spendingIn(transaction);
      return given.map((one) => this.#admitWithDelivery(one, spending));
    });
  }

  async get(id: string): Promise<Job | undefined> {
    return this.#get(id);
  }

  async findByKey(idempotencyKey: string): Promise<Job | undefined> {
    return this.#findByKey(idempotencyKey);
  }

  async findByPrefix(prefix: string): Promise<Job[]> {
    const afterDate = "job-2000-01-01-".length + 1;
    const sql = `SELECT id, record FROM jobs
                 WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, ${afterDate}, length(?1)) = ?1
                 ORDER BY created_at DESC, seq DESC LIMIT 10`;
    return this.#database.all(sql, prefix).map((row) => this.#read(row));
  }

  async list(query: JobQuery): Promise<JobPage> {
    const { rows, next } = readPage(this.#database, query);
    return { jobs: rows.map((row) => this.#read(row)), next };
  }

  async lastEnded(agent: string): Promise<Job | undefined> {
    const sql = `SELECT id, record FROM jobs WHERE agent = ? AND finished_at IS NOT NULL
                 ORDER BY finished_at DESC, id DESC LIMIT 1`;
    const row = this.#database.get(sql, agent);
    return row && this.#read(row);
  }

  async unfinished(): Promise<Job[]> {
    const sql = `SELECT id, record FROM jobs WHERE status IN ('pending', 'running', 'waiting')
                 ORDER BY created_at, seq`;
    return this.#database.all(sql).map((row) => this.#read(row));
  }

  async chain(firstId: string): Promise<Job[]> {
    const sql = "SELECT id, record FROM jobs WHERE chain = ? ORDER BY seq";
    return this.#database.all(sql, firstId).map((row) => this.#read(row));
  }

  async snapshot(): Promise<LiveJob[]> {
    return readLiveJobs(this.#database);
  }

  async update(id: string, change: JobChange): Promise<JobUpdate> {
    return this.#database.transaction(() => this.#change(this.#expect(id), change));
  }

  async startAttempt(
    id: string,
    change: Omit<JobChange, "status"> = {},
    lease?: LeaseTerms,
  ): Promise<JobUpdate> {
    return this.#database.transaction(() => {
      const update = this.#change(this.#expect(id), { ...change, status: "running" });
      if (!update.applied) return update;
      if (lease) leaseSession(this.#database, lease, this.#clock(), isAlive);
      const job = { ...update.job, attempts: update.job.attempts + 1 };
      this.#save(job);
      const attempt: Attempt = {
        job_id: id,
        number: job.attempts,
        started_at: this.#clock().toISOString(),
        finished_at: null,
        outcome_code: null,
        session_id: null,
        cost_usd: null,
        usage: null,
        crashed: false,
      };
      this.#database.run(
        "INSERT INTO attempts (job_id, number, record) VALUES (?, ?, ?)",
        id,
        attempt.number,
        JSON.stringify(attempt),
      );
      return { applied: true, job };
    });
  }

  async endAttempt(
    id: string,
    number: number,
    end: AttemptEnd,
    change: JobChange = {},
    session?: SessionEnd,
  ): Promise<JobUpdate> {
    return this.#database.transaction(() => {
      if (session) this.#endSession(session);
      const job = this.#expect(id);
      const where = "WHERE job_id = ? AND number = ?";
      const row = this.#database.get(`SELECT job_id, record FROM attempts ${where}`, id, number);
      if (!row) throw new UserError("job_not_found", `there is no attempt ${number} of job ${id}`);
      const attempt = readRecord(this.#database, attemptSchema, row);
      if (attempt.finished_at !== null) return { applied: false, job };
      const now = this.#clock();
      const finished_at = now.toISOString();
      const ended = attemptSchema.parse({ ...attempt, ...end, finished_at });
      addDayCosts(this.#database, job, ended, this.#dayName(now));
      const sql = `UPDATE attempts SET record = ? ${where}`;
      this.#database.run(sql, JSON.stringify(ended), id, number);
      return { applied: true, job: this.#change(withAttempt(job, ended), change).job };
    });
  }

  async attempts(id: string): Promise<Attempt[]> {
    const sql = "SELECT job_id, record FROM attempts WHERE job_id = ? ORDER BY number";
    return this.#database.all(sql, id).map((row) => readRecord(this.#database, attemptSchema, row));
  }

  async prune(retention: Retention): Promise<string[]> {
    return pruneJobs(this.#database, retention, this.#clock());
  }

  /** Counted once a transaction: of a busy day there are thousands of jobs. */
  #spendingIn(transaction: object): RunningSpending {
    const known = this.#spending.get(transaction) ?? new RunningSpending(this.#database);
    this.#spending.set(transaction, known);
    return known;
  }

  #admitWithDelivery(application: Application, spending: RunningSpending): Admitted {
    const admitted = this.#admit(application, spending);
    if (!application.delivery) return admitted;
    const delivery = { ...application.delivery, job_id: admitted.job.id };
    return { ...admitted, delivery: recordDelivery(this.#database, delivery, this.#clock()) };
  }

  #admit({ job: given, decide, due, day }: Application, spending: RunningSpending): Admitted {
    const first = given.idempotency_key ? this.#findByKey(given.idempotency_key) : undefined;
    if (first) return { job: first, created: false, cancel: [] };
    const { agent, schedule, chain } = given;
    const database = this.#database;
    const decision = decide({
      // Read when it is asked for: of a busy webhook there may be thousands.
      get live() {
        return schedule ? readLiveOf(database, agent, schedule) : [];
      },
      spending: day && spending.on(day),
      chain: chain && readChainSpent(database, chain.id),
    });
    const job = this.#insert({ ...given, ...decided(given, decision) });
    if (decision.kind === "accept") spending.add(agent, job.reserved_usd);
    if (due) recordJobOfDue(this.#database, job, due);
    return { job, created: true, cancel: decision.kind === "accept" ? decision.cancel : [] };
  }

  #insert({ id: givenId, ...given }: NewJob): Job {
    const now = this.#clock();
    const id = checkJobId(givenId ?? newJobId(now));
    if (this.#get(id)) throw new UserError("usage", `there is already a job ${id}`);
    const job = acceptJob(given, id, now, this.#outputFile(id));
    const { output_file: _, ...record } = job;
    this.#database.run("INSERT INTO jobs (id, record) VALUES (?, ?)", id, JSON.stringify(record));
    return job;
  }

  #endSession({ sessionId, holder, saved }: SessionEnd): void {
    if (saved) saveSession(this.#database, saved, this.#clock());
    releaseSession(this.#database, sessionId, holder);
  }

  #change(job: Job, change: JobChange): JobUpdate {
    const decision = changeJob(job, jobChangeSchema.parse(change), this.#clock());
    if (decision.kind === "finished") return { applied: false, job };
    if (decision.kind === "refuse") throw new Error(`${job.id}: ${decision.reason}`);
    this.#save(decision.job);
    return { applied: true, job: decision.job };
  }

  #expect(id: string): Job {
    const job = this.#get(id);
    if (!job) throw new UserError("job_not_found", `there is no job ${id}`);
    return job;
  }

  #save(job: Job): void {
    const { output_file: _, ...record } = job;
    this.#database.run("UPDATE jobs SET record = ? WHERE id = ?", JSON.stringify(record), job.id);
  }

  #get(id: string): Job | undefined {
    return this.#one("WHERE id = ?", id);
  }

  #findByKey(key: string): Job | undefined {
    return this.#one("WHERE idempotency_key = ?", key);
  }

  #one(where: string, value: Value): Job | undefined {
    const row = this.#database.get(`SELECT id, record FROM jobs ${where}`, value);
    return row && this.#read(row);
  }

  #read(row: Row): Job {
    const output_file = this.#outputFile(String(row.id));
    return readRecord(this.#database, jobSchema, row, { output_file });
  }
}

function decided({ chain }: NewJob, decision: AdmissionDecision): Partial<NewJob> {
  if (decision.kind === "skip") return { skipped: decision.outcome };
  return chain && decision.maxUsd !== undefined
    ? { chain: { ...chain, max_usd: decision.maxUsd } }
    : {};
}

const acceptAll: AdmissionDecider = () => ({ kind: "accept", cancel: [] });
