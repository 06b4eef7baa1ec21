import {
  type HookQuery,
  type HookRun,
  type HookRunEnd,
  type PlannedHook,
  UserError,
} from "@herdctl/protocol";
import { hookRunSchema } from "@herdctl/protocol/schemas";
import { newHookId } from "../model/ids.ts";
import { type JobNotice, readNotices, removeNotice } from "./job-notices.ts";
import { pageLimit } from "./page.ts";
import {
  execute,
  queryRows,
  readRecord,
  type SqlProgram,
  SqlStore,
  type SqlValue,
} from "./sql-program.ts";

/** The end of a job is recorded in one transaction with the fact that its hooks are undecided. */
export class HookStore extends SqlStore {
  /** Finished jobs whose hooks are undecided, in the order in which they finished. */
  async listUndecidedJobs(): Promise<string[]> {
    const rows = await this.database.read(() =>
      queryRows("SELECT job_id FROM job_end_outbox ORDER BY seq"),
    );
    return rows.map((row) => String(row.job_id));
  }

  /** Enqueues the hooks of each job, once: a decided job gives no more hooks. */
  async enqueue(hooksByJob: ReadonlyMap<string, readonly PlannedHook[]>): Promise<HookRun[]> {
    return this.database.transaction(() => this.#enqueueInTransaction(hooksByJob));
  }

  /** Events of unfinished jobs whose hooks are undecided, in the order in which they happened. */
  async listNotices(): Promise<JobNotice[]> {
    return this.database.read(() => readNotices(this.database));
  }

  /** Enqueues the hooks of a notice, once: a decided notice gives no more hooks. */
  async enqueueForNotice(
    { seq, jobId }: Pick<JobNotice, "seq" | "jobId">,
    hooks: readonly PlannedHook[],
  ): Promise<HookRun[]> {
    return this.database.transaction(() => this.#enqueueForNoticeInTransaction(seq, jobId, hooks));
  }

  /** All due or running hooks, oldest first. */
  async listOpen(): Promise<HookRun[]> {
    const clause = "WHERE status IN ('due', 'running') ORDER BY seq";
    return this.database.read(() => this.#select(clause));
  }

  async get(id: string): Promise<HookRun | undefined> {
    const [found] = await this.database.read(() => this.#select("WHERE id = ?", id));
    return found;
  }

  /** Newest first. */
  async list(query: HookQuery): Promise<HookRun[]> {
    const { job, status } = query;
    const order = "ORDER BY seq DESC LIMIT ?";
    const conditions = [
      ...(job === undefined ? [] : [["job_id = ?", job] as const]),
      ...(status === undefined ? [] : [["status = ?", status] as const]),
    ];
    const where =
      conditions.length === 0 ? "" : `WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;
    const values = conditions.map(([, value]) => value);
    return this.database.read(() => this.#select(`${where} ${order}`, ...values, pageLimit(query)));
  }

  /** Counts an attempt. Undefined if the hook is not due. */
  async startAttempt(id: string): Promise<HookRun | undefined> {
    return this.database.transaction(() => this.#startAttemptInTransaction(id));
  }

  async endAttempt(id: string, end: HookRunEnd): Promise<HookRun> {
    return this.database.transaction(() => this.#endAttemptInTransaction(id, end));
  }

  /** Makes a failed hook due again. */
  async retry(id: string): Promise<HookRun> {
    return this.database.transaction(() => this.#retryInTransaction(id));
  }

  *#enqueueInTransaction(
    hooksByJob: ReadonlyMap<string, readonly PlannedHook[]>,
  ): SqlProgram<HookRun[]> {
    const due: HookRun[] = [];
    for (const [jobId, hooks] of hooksByJob) {
      const isOpen = (yield* execute("DELETE FROM job_end_outbox WHERE job_id = ?", jobId)) > 0;
      for (const hook of isOpen ? hooks : []) due.push(yield* this.#insert(jobId, hook));
    }
    return due;
  }

  *#enqueueForNoticeInTransaction(
    seq: number,
    jobId: string,
    hooks: readonly PlannedHook[],
  ): SqlProgram<HookRun[]> {
    const isOpen = yield* removeNotice(seq);
    const due: HookRun[] = [];
    for (const hook of isOpen ? hooks : []) due.push(yield* this.#insert(jobId, hook));
    return due;
  }

  *#startAttemptInTransaction(id: string): SqlProgram<HookRun | undefined> {
    const hookRun = yield* this.#getOrThrow(id);
    if (hookRun.status !== "due") return undefined;
    const started_at = this.clock().toISOString();
    const attempts = hookRun.attempts + 1;
    return yield* this.#save({ ...hookRun, status: "running", attempts, started_at, due_at: null });
  }

  *#endAttemptInTransaction(id: string, end: HookRunEnd): SqlProgram<HookRun> {
    const hookRun = yield* this.#getOrThrow(id);
    const isFinal = end.status !== "due";
    const finished_at = isFinal ? this.clock().toISOString() : null;
    const due_at = end.status === "due" ? end.due_at : null;
    return yield* this.#save({ ...hookRun, ...end, due_at, finished_at });
  }

  *#retryInTransaction(id: string): SqlProgram<HookRun> {
    const hookRun = yield* this.#getOrThrow(id);
    if (hookRun.status !== "failed") {
      throw new UserError(
        "hook_not_failed",
        `${id} has not failed; its status is ${hookRun.status}`,
      );
    }
    const due_at = this.clock().toISOString();
    return yield* this.#save({ ...hookRun, status: "due", due_at, finished_at: null });
  }

  *#insert(job_id: string, hook: PlannedHook): SqlProgram<HookRun> {
    const now = this.clock().toISOString();
    const due = hookRunSchema.parse({
      ...hook,
      id: newHookId(),
      job_id,
      status: "due",
      attempts: 0,
      due_at: now,
      created_at: now,
      started_at: null,
      finished_at: null,
      message: null,
      output: null,
    });
    const sql = "INSERT INTO hook_runs (id, job_id, record) VALUES (?, ?, ?)";
    yield* execute(sql, due.id, job_id, JSON.stringify(due));
    return due;
  }

  *#save(changed: HookRun): SqlProgram<HookRun> {
    const checked = hookRunSchema.parse(changed);
    const sql = "UPDATE hook_runs SET record = ? WHERE id = ?";
    yield* execute(sql, JSON.stringify(checked), checked.id);
    return checked;
  }

  *#getOrThrow(id: string): SqlProgram<HookRun> {
    const [hookRun] = yield* this.#select("WHERE id = ?", id);
    if (!hookRun) throw new UserError("hook_not_found", `there is no hook run ${id}`);
    return hookRun;
  }

  *#select(clause: string, ...values: SqlValue[]): SqlProgram<HookRun[]> {
    const rows = yield* queryRows(`SELECT id, record FROM hook_runs ${clause}`, ...values);
    return rows.map((row) => readRecord(this.database, hookRunSchema, row));
  }
}
