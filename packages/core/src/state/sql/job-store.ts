import { UserError } from "../../errors/user-error.ts";
import type { AdmissionDecider, Admitted, Application } from "../admission.ts";
import type { HandOutDecider, HandOutDecision } from "../hand-out.ts";
import {
  type Attempt,
  type AttemptEnd,
  attemptSchema,
  type Job,
  type JobChange,
  type LiveJob,
  type NewJob,
  newJobSchema,
} from "../job.ts";
import { withAttempt } from "../job-change.ts";
import type {
  Assignee,
  JobPage,
  JobQuery,
  JobStore,
  JobUpdate,
  LeaseTerms,
  Retention,
  SessionEnd,
} from "../job-store.ts";
import type { Liveness } from "../lease.ts";
import { Admission } from "./admission.ts";
import { addDayCosts } from "./day-costs.ts";
import { handOut } from "./hand-out.ts";
import { readPage } from "./job-page.ts";
import { JobRecords } from "./job-records.ts";
import { readLiveJobs } from "./live-jobs.ts";
import { pruneJobs } from "./prune-jobs.ts";
import { readRecord } from "./record.ts";
import { leaseSession, releaseSession, saveSession } from "./session-records.ts";
import { RunningSpending } from "./spending.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, run, type Steps } from "./steps.ts";

interface JobStoreFrame {
  clock(): Date;
  outputFile(id: string): string;
  dayName(at: Date): string;
  liveness: Liveness;
}

export class SqlJobStore implements JobStore {
  readonly #database: SqlDatabase;
  readonly #frame: JobStoreFrame;
  readonly #records: JobRecords;
  readonly #admission: Admission;
  readonly #spending = new WeakMap<object, RunningSpending>();

  constructor(database: SqlDatabase, frame: JobStoreFrame) {
    this.#database = database;
    this.#frame = frame;
    this.#records = new JobRecords(database, frame.clock, frame.outputFile);
    this.#admission = new Admission(database, this.#records, frame.clock);
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
    return this.#database.together((transaction) =>
      this.#admission.all(given, this.#spendingIn(transaction)),
    );
  }

  async get(id: string): Promise<Job | undefined> {
    return this.#database.read(() => this.#records.get(id));
  }

  async findByKey(idempotencyKey: string): Promise<Job | undefined> {
    return this.#database.read(() => this.#records.findByKey(idempotencyKey));
  }

  async findByPrefix(prefix: string): Promise<Job[]> {
    const afterDate = "job-2000-01-01-".length + 1;
    const rest = `WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, ${afterDate}, length(?1)) = ?1
                  ORDER BY created_at DESC, seq DESC LIMIT 10`;
    return this.#database.read(() => this.#records.select(rest, prefix));
  }

  async list(query: JobQuery): Promise<JobPage> {
    const { rows, next } = await this.#database.read(() => readPage(query));
    return { jobs: rows.map((row) => this.#records.read(row)), next };
  }

  async lastEnded(agent: string): Promise<Job | undefined> {
    const rest = `WHERE agent = ? AND finished_at IS NOT NULL
                  ORDER BY finished_at DESC, id DESC LIMIT 1`;
    const [job] = await this.#database.read(() => this.#records.select(rest, agent));
    return job;
  }

  async unfinished(): Promise<Job[]> {
    const rest = `WHERE status IN ('pending', 'running', 'waiting') ORDER BY created_at, seq`;
    return this.#database.read(() => this.#records.select(rest));
  }

  async chain(firstId: string): Promise<Job[]> {
    return this.#database.read(() => this.#records.select("WHERE chain = ? ORDER BY seq", firstId));
  }

  async snapshot(): Promise<LiveJob[]> {
    return this.#database.read(() => readLiveJobs(this.#database));
  }

  async update(id: string, change: JobChange): Promise<JobUpdate> {
    return this.#database.transaction(() => this.#update(id, change));
  }

  async startAttempt(
    id: string,
    change: Omit<JobChange, "status"> = {},
    lease?: LeaseTerms,
    by?: Assignee,
  ): Promise<JobUpdate> {
    return this.#database.transaction(() => this.#startAttempt(id, change, lease, by));
  }

  async endAttempt(
    id: string,
    number: number,
    end: AttemptEnd,
    change: JobChange | ((job: Job) => JobChange) = {},
    session?: SessionEnd,
  ): Promise<JobUpdate> {
    return this.#database.transaction(() => this.#endAttempt(id, number, end, change, session));
  }

  async attempts(id: string): Promise<Attempt[]> {
    const sql = "SELECT job_id, record FROM attempts WHERE job_id = ? ORDER BY number";
    const rows = await this.#database.read(() => all(sql, id));
    return rows.map((row) => readRecord(this.#database, attemptSchema, row));
  }

  async handOut(decide: HandOutDecider, how: "look" | "write"): Promise<HandOutDecision> {
    const steps = () => handOut(this.#database, this.#records, decide, how, this.#frame.clock());
    return how === "look" ? this.#database.read(steps) : this.#database.transaction(steps);
  }

  async prune(retention: Retention): Promise<string[]> {
    const { dialect } = this.#database;
    return this.#database.transaction(() => pruneJobs(dialect, retention, this.#frame.clock()));
  }

  /** Counted once a transaction: of a busy day there are thousands of jobs. */
  #spendingIn(transaction: object): RunningSpending {
    const known = this.#spending.get(transaction) ?? new RunningSpending(this.#database);
    this.#spending.set(transaction, known);
    return known;
  }

  *#update(id: string, change: JobChange): Steps<JobUpdate> {
    return yield* this.#records.change(yield* this.#records.expect(id), change);
  }

  *#startAttempt(
    id: string,
    change: Omit<JobChange, "status">,
    lease: LeaseTerms | undefined,
    by: Assignee | undefined,
  ): Steps<JobUpdate> {
    const before = yield* this.#records.expect(id);
    if (by && !isAssignedTo(before, by)) return { applied: false, job: before };
    const mine = by ? { node: by.node, assigned: null } : {};
    const begun = { ...change, ...mine, status: "running" as const };
    const number = before.attempts + 1;
    const update = yield* this.#records.change(before, begun, { attempts: number });
    if (!update.applied) return update;
    const { clock, liveness } = this.#frame;
    if (lease) yield* leaseSession(this.#database, lease, clock(), liveness);
    const attempt: Attempt = {
      job_id: id,
      number,
      started_at: clock().toISOString(),
      finished_at: null,
      outcome_code: null,
      session_id: null,
      cost_usd: null,
      usage: null,
      crashed: false,
    };
    const sql = "INSERT INTO attempts (job_id, number, record) VALUES (?, ?, ?)";
    yield* run(sql, id, number, JSON.stringify(attempt));
    return update;
  }

  *#endAttempt(
    id: string,
    number: number,
    end: AttemptEnd,
    change: JobChange | ((job: Job) => JobChange),
    session: SessionEnd | undefined,
  ): Steps<JobUpdate> {
    if (session) yield* this.#endSession(session);
    const job = yield* this.#records.expect(id);
    const where = "WHERE job_id = ? AND number = ?";
    const row = yield* one(`SELECT job_id, record FROM attempts ${where}`, id, number);
    if (!row) throw new UserError("job_not_found", `there is no attempt ${number} of job ${id}`);
    const attempt = readRecord(this.#database, attemptSchema, row);
    if (attempt.finished_at !== null) return { applied: false, job };
    const now = this.#frame.clock();
    const finished_at = now.toISOString();
    const ended = attemptSchema.parse({ ...attempt, ...end, finished_at });
    yield* addDayCosts(job, ended, this.#frame.dayName(now));
    yield* run(`UPDATE attempts SET record = ? ${where}`, JSON.stringify(ended), id, number);
    const becomes = typeof change === "function" ? change(job) : change;
    const { job: changed } = yield* this.#records.change(withAttempt(job, ended), becomes);
    return { applied: true, job: changed };
  }

  *#endSession({ sessionId, holder, saved }: SessionEnd): Steps<void> {
    if (saved) yield* saveSession(this.#database, saved, this.#frame.clock());
    yield* releaseSession(this.#database, sessionId, holder);
  }
}

function isAssignedTo({ assigned }: Job, { node, epoch }: Assignee): boolean {
  return assigned?.node === node && assigned.epoch === epoch;
}

const acceptAll: AdmissionDecider = () => ({ kind: "accept", cancel: [] });
