import {
  type Attempt,
  type AttemptResult,
  type Job,
  type JobChange,
  type JobPage,
  type JobQuery,
  type NewJob,
  type UnfinishedJob,
  UserError,
} from "@herdctl/protocol";
import { attemptSchema, newJobSchema } from "@herdctl/protocol/schemas";
import type { AdmissionDecider, AdmissionRequest, AdmissionResult } from "../model/admission.ts";
import type { AssignmentDecider, AssignmentDecision } from "../model/assignment.ts";
import type {
  Assignee,
  JobRetention,
  JobUpdateResult,
  LeaseTerms,
  SessionEnd,
} from "../model/job-change.ts";
import { addAttemptTotals } from "../model/job-change.ts";
import type { Liveness } from "../model/session-lease.ts";
import { assignJobs } from "./assign-jobs.ts";
import { recordWait } from "./job-notices.ts";
import { JobAdmission, JobRecords, readLiveJobs } from "./job-records.ts";
import { pageLimit, readCursor, writeCursor } from "./page.ts";
import { deleteJobs, findPrunableJobs } from "./prune-jobs.ts";
import { leaseSession, releaseSession, saveSession } from "./session-store.ts";
import { addDayCosts, RunningSpending } from "./spending.ts";
import type { SqlDatabase } from "./sql-program.ts";
import {
  execute,
  queryRow,
  queryRows,
  readRecord,
  type SqlProgram,
  type SqlRow,
  type SqlValue,
} from "./sql-program.ts";

interface JobStoreOptions {
  clock(): Date;
  outputFile(id: string): string;
  dayName(at: Date): string;
  liveness: Liveness;
}

export class JobStore {
  private readonly records: JobRecords;
  private readonly admission: JobAdmission;
  private readonly spending = new WeakMap<object, RunningSpending>();

  constructor(
    private readonly database: SqlDatabase,
    private readonly options: JobStoreOptions,
  ) {
    this.records = new JobRecords(database, options.clock, options.outputFile);
    this.admission = new JobAdmission(database, this.records, options.clock);
  }

  /** With a known idempotency key, returns the first job and creates nothing. */
  async create(job: NewJob): Promise<{ job: Job; created: boolean }> {
    const { job: recorded, created } = await this.admit({ job, decide: acceptAll });
    return { job: recorded, created };
  }

  /** Like `create`, but `decide` is called first. A refusal is recorded as `skipped`. */
  async admit(request: AdmissionRequest): Promise<AdmissionResult> {
    const [admitted] = await this.admitAll([request]);
    if (!admitted) throw new Error("the request has no admission result");
    return admitted;
  }

  /** Admits several jobs in one transaction, in this order; each sees those before it. */
  async admitAll(requests: readonly AdmissionRequest[]): Promise<AdmissionResult[]> {
    const parsedRequests = requests.map((request) => ({
      ...request,
      job: newJobSchema.parse(request.job),
    }));
    return this.database.groupCommit((transaction) =>
      this.admission.admitAll(parsedRequests, this.spendingFor(transaction)),
    );
  }

  async get(id: string): Promise<Job | undefined> {
    return this.database.read(() => this.records.get(id));
  }

  async findByKey(idempotencyKey: string): Promise<Job | undefined> {
    return this.database.read(() => this.records.findByKey(idempotencyKey));
  }

  /** Newest first, at most a few: ids that start with the prefix, or whose random part does. */
  async findByPrefix(prefix: string): Promise<Job[]> {
    const afterDate = "job-2000-01-01-".length + 1;
    const clause = `WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, ${afterDate}, length(?1)) = ?1
                  ORDER BY created_at DESC, seq DESC LIMIT 10`;
    return this.database.read(() => this.records.select(clause, prefix));
  }

  /** Newest first. */
  async list(query: JobQuery): Promise<JobPage> {
    const { rows, nextCursor } = await this.database.read(() => readPage(query));
    return { jobs: rows.map((row) => this.records.parseRow(row)), next_cursor: nextCursor };
  }

  /** The job of an agent that ended last. */
  async lastFinished(agent: string): Promise<Job | undefined> {
    const clause = `WHERE agent = ? AND finished_at IS NOT NULL AND status <> 'skipped'
                  ORDER BY finished_at DESC, id DESC LIMIT 1`;
    const [job] = await this.database.read(() => this.records.select(clause, agent));
    return job;
  }

  /** All pending, running and waiting jobs, oldest first. */
  async listUnfinished(): Promise<Job[]> {
    const clause = `WHERE status IN ('pending', 'running', 'waiting') ORDER BY created_at, seq`;
    return this.database.read(() => this.records.select(clause));
  }

  /** All jobs of the chain that starts with this job, oldest first. */
  async listChain(firstId: string): Promise<Job[]> {
    return this.database.read(() => this.records.select("WHERE chain = ? ORDER BY seq", firstId));
  }

  /**
   * Short form of the unfinished jobs, read from an index only, however many jobs have finished.
   */
  async listLive(): Promise<UnfinishedJob[]> {
    return this.database.read(() => readLiveJobs(this.database));
  }

  async update(id: string, change: JobChange): Promise<JobUpdateResult> {
    return this.database.transaction(() => this.updateInTransaction(id, change));
  }

  /**
   * Ends a job unless an attempt of it is running. Calls at the same time share a transaction, so
   * that many jobs end quickly and other work continues in between.
   */
  async endWaiting(id: string, change: JobChange): Promise<JobUpdateResult> {
    return this.database.groupCommit(() => this.endWaitingInTransaction(id, change));
  }

  /**
   * Counts the attempt, sets the job to running, and takes the session lease if it is free or held
   * by the same holder. Not applied to a finished job, or to a job that is not assigned to
   * `assignee`. A started job is no longer assigned.
   */
  async startAttempt(
    id: string,
    change: Omit<JobChange, "status"> = {},
    lease?: LeaseTerms,
    assignee?: Assignee,
  ): Promise<JobUpdateResult> {
    return this.database.transaction(() =>
      this.startAttemptInTransaction(id, change, lease, assignee),
    );
  }

  /**
   * Records the result of an attempt and the change of its job in one step, so that no job stays
   * running without an attempt. Cost, usage and crash are added to the job. Not applied if the
   * attempt has already ended: the first result stays, and nothing is added twice. The session is
   * recorded in any case. A change may depend on the current record.
   */
  async endAttempt(
    id: string,
    number: number,
    end: AttemptResult,
    change: JobChange | ((job: Job) => JobChange) = {},
    session?: SessionEnd,
  ): Promise<JobUpdateResult> {
    return this.database.transaction(() =>
      this.endAttemptInTransaction(id, number, end, change, session),
    );
  }

  async listAttempts(id: string): Promise<Attempt[]> {
    const sql = "SELECT job_id, record FROM attempts WHERE job_id = ? ORDER BY number";
    const rows = await this.database.read(() => queryRows(sql, id));
    return rows.map((row) => readRecord(this.database, attemptSchema, row));
  }

  /**
   * Calls `decide` in one transaction to assign jobs to nodes, and records the result. `look` does
   * the same without writing. Only for stores that nodes share.
   */
  async assign(decide: AssignmentDecider, mode: "look" | "write"): Promise<AssignmentDecision> {
    const program = () =>
      assignJobs(this.database, this.records, decide, mode, this.options.clock());
    return mode === "look" ? this.database.read(program) : this.database.transaction(program);
  }

  /**
   * Deletes finished jobs that need not be kept, some at a time, and returns their ids. Calls
   * `removeFiles` before it deletes a record, so that a folder without a record means a lost record.
   */
  async prune(
    retention: JobRetention,
    removeFiles: (id: string) => Promise<void> = async () => undefined,
  ): Promise<string[]> {
    const now = this.options.clock();
    const ids = await this.database.read(() =>
      findPrunableJobs(this.database.dialect, retention, now),
    );
    for (const id of ids) await removeFiles(id);
    await this.database.transaction(() => deleteJobs(ids));
    return ids;
  }

  /** Read once per transaction, because a busy day has thousands of jobs. */
  private spendingFor(transaction: object): RunningSpending {
    const known = this.spending.get(transaction) ?? new RunningSpending(this.database);
    this.spending.set(transaction, known);
    return known;
  }

  private *updateInTransaction(id: string, change: JobChange): SqlProgram<JobUpdateResult> {
    return yield* this.records.change(yield* this.records.getOrThrow(id), change);
  }

  private *endWaitingInTransaction(id: string, change: JobChange): SqlProgram<JobUpdateResult> {
    const job = yield* this.records.getOrThrow(id);
    if (job.status === "running") return { applied: false, job };
    return yield* this.records.change(job, change);
  }

  private *startAttemptInTransaction(
    id: string,
    change: Omit<JobChange, "status">,
    lease: LeaseTerms | undefined,
    assignee: Assignee | undefined,
  ): SqlProgram<JobUpdateResult> {
    const before = yield* this.records.getOrThrow(id);
    if (assignee && !isAssignedTo(before, assignee)) return { applied: false, job: before };
    const assignmentFields = assignee ? { node: assignee.node, assigned: null } : {};
    const startChange = { ...change, ...assignmentFields, status: "running" as const };
    const number = before.attempts + 1;
    const update = yield* this.records.change(before, startChange, { attempts: number });
    if (!update.applied) return update;
    const { clock, liveness } = this.options;
    if (lease) yield* leaseSession(this.database, lease, clock(), liveness);
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
    yield* execute(sql, id, number, JSON.stringify(attempt));
    return update;
  }

  private *endAttemptInTransaction(
    id: string,
    number: number,
    end: AttemptResult,
    change: JobChange | ((job: Job) => JobChange),
    session: SessionEnd | undefined,
  ): SqlProgram<JobUpdateResult> {
    if (session) yield* this.endSession(session);
    const job = yield* this.records.getOrThrow(id);
    const where = "WHERE job_id = ? AND number = ?";
    const row = yield* queryRow(`SELECT job_id, record FROM attempts ${where}`, id, number);
    if (!row) throw new UserError("job_not_found", `there is no attempt ${number} of job ${id}`);
    const attempt = readRecord(this.database, attemptSchema, row);
    if (attempt.finished_at !== null) return { applied: false, job };
    const now = this.options.clock();
    const finished_at = now.toISOString();
    const endedAttempt = attemptSchema.parse({ ...attempt, ...end, finished_at });
    yield* addDayCosts(job, endedAttempt, this.options.dayName(now));
    yield* execute(
      `UPDATE attempts SET record = ? ${where}`,
      JSON.stringify(endedAttempt),
      id,
      number,
    );
    const jobChange = typeof change === "function" ? change(job) : change;
    const { job: changed } = yield* this.records.change(
      addAttemptTotals(job, endedAttempt),
      jobChange,
    );
    yield* recordWait(changed, endedAttempt);
    return { applied: true, job: changed };
  }

  private *endSession({ sessionId, holder, sessionInfo }: SessionEnd): SqlProgram<void> {
    if (sessionInfo) yield* saveSession(this.database, sessionInfo, this.options.clock());
    yield* releaseSession(this.database, sessionId, holder);
  }
}

function isAssignedTo({ assigned }: Job, { node, epoch }: Assignee): boolean {
  return assigned?.node === node && assigned.epoch === epoch;
}

const acceptAll: AdmissionDecider = () => ({ kind: "accept", jobsToCancel: [] });

/** Each filter uses an index, so that a page costs the same for any number of jobs. */
function* readPage(query: JobQuery): SqlProgram<{ rows: SqlRow[]; nextCursor: string | null }> {
  const limit = pageLimit(query);
  const conditions: [sql: string, ...values: SqlValue[]][] = [];
  if (query.agent !== undefined) conditions.push(["agent = ?", query.agent]);
  if (query.status !== undefined) conditions.push(["status = ?", query.status]);
  if (query.skipped === false) conditions.push(["status <> 'skipped'"]);
  if (query.outcome !== undefined) conditions.push(["outcome_code = ?", query.outcome]);
  if (query.since !== undefined) conditions.push(["created_at >= ?", query.since.toISOString()]);
  if (query.until !== undefined) conditions.push(["created_at < ?", query.until.toISOString()]);
  if (query.schedule !== undefined) conditions.push(["schedule = ?", query.schedule]);
  if (query.session !== undefined) conditions.push(["session_id = ?", query.session]);
  if (query.cursor !== undefined) {
    conditions.push(["(created_at, seq) < (?, ?)", ...readCursor(query.cursor, "text", "integer")]);
  }
  const where =
    conditions.length === 0 ? "" : `WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;
  const rows = yield* queryRows(
    `SELECT seq, id, created_at, record FROM jobs ${where} ORDER BY created_at DESC, seq DESC LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    limit + 1,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > page.length;
  const nextCursor = hasMore && last ? writeCursor(last.created_at, Number(last.seq)) : null;
  return { rows: page, nextCursor };
}
