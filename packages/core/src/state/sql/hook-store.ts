import { UserError } from "../../errors/user-error.ts";
import type { HookQuery, HookStore } from "../contract.ts";
import { type CalledHook, type HookEnd, type HookRun, hookRunSchema } from "../hook-run.ts";
import { newHookId } from "../names.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, run, type Steps, type Value } from "./steps.ts";

export class SqlHookStore implements HookStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async undecided(): Promise<string[]> {
    const rows = await this.#database.read(() => all("SELECT job_id FROM endings ORDER BY seq"));
    return rows.map((row) => String(row.job_id));
  }

  async decide(called: ReadonlyMap<string, readonly CalledHook[]>): Promise<HookRun[]> {
    return this.#database.transaction(() => this.#decide(called));
  }

  async open(): Promise<HookRun[]> {
    const rest = "WHERE status IN ('due', 'running') ORDER BY seq";
    return this.#database.read(() => this.#select(rest));
  }

  async get(id: string): Promise<HookRun | undefined> {
    const [found] = await this.#database.read(() => this.#select("WHERE id = ?", id));
    return found;
  }

  async list({ jobId, status, limit }: HookQuery): Promise<HookRun[]> {
    const order = "ORDER BY seq DESC LIMIT ?";
    const parts = [
      ...(jobId === undefined ? [] : [["job_id = ?", jobId] as const]),
      ...(status === undefined ? [] : [["status = ?", status] as const]),
    ];
    const where = parts.length === 0 ? "" : `WHERE ${parts.map(([sql]) => sql).join(" AND ")}`;
    const values = parts.map(([, value]) => value);
    return this.#database.read(() => this.#select(`${where} ${order}`, ...values, limit));
  }

  async begin(id: string): Promise<HookRun | undefined> {
    return this.#database.transaction(() => this.#begin(id));
  }

  async end(id: string, end: HookEnd): Promise<HookRun> {
    return this.#database.transaction(() => this.#end(id, end));
  }

  async retry(id: string): Promise<HookRun> {
    return this.#database.transaction(() => this.#retry(id));
  }

  *#decide(called: ReadonlyMap<string, readonly CalledHook[]>): Steps<HookRun[]> {
    const due: HookRun[] = [];
    for (const [jobId, hooks] of called) {
      const isOpen = (yield* run("DELETE FROM endings WHERE job_id = ?", jobId)) > 0;
      for (const hook of isOpen ? hooks : []) due.push(yield* this.#insert(jobId, hook));
    }
    return due;
  }

  *#begin(id: string): Steps<HookRun | undefined> {
    const known = yield* this.#expect(id);
    if (known.status !== "due") return undefined;
    const started_at = this.#clock().toISOString();
    const attempts = known.attempts + 1;
    return yield* this.#save({ ...known, status: "running", attempts, started_at, due_at: null });
  }

  *#end(id: string, end: HookEnd): Steps<HookRun> {
    const known = yield* this.#expect(id);
    const isOver = end.status !== "due";
    const finished_at = isOver ? this.#clock().toISOString() : null;
    const due_at = end.status === "due" ? end.due_at : null;
    return yield* this.#save({ ...known, ...end, due_at, finished_at });
  }

  *#retry(id: string): Steps<HookRun> {
    const known = yield* this.#expect(id);
    if (known.status !== "failed") {
      throw new UserError("hook_not_failed", `${id} has not failed: it is ${known.status}`);
    }
    const due_at = this.#clock().toISOString();
    return yield* this.#save({ ...known, status: "due", due_at, finished_at: null });
  }

  *#insert(job_id: string, hook: CalledHook): Steps<HookRun> {
    const now = this.#clock().toISOString();
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
    yield* run(sql, due.id, job_id, JSON.stringify(due));
    return due;
  }

  *#save(changed: HookRun): Steps<HookRun> {
    const checked = hookRunSchema.parse(changed);
    const sql = "UPDATE hook_runs SET record = ? WHERE id = ?";
    yield* run(sql, JSON.stringify(checked), checked.id);
    return checked;
  }

  *#expect(id: string): Steps<HookRun> {
    const [known] = yield* this.#select("WHERE id = ?", id);
    if (!known) throw new UserError("hook_not_found", `there is no hook run ${id}`);
    return known;
  }

  *#select(rest: string, ...values: Value[]): Steps<HookRun[]> {
    const rows = yield* all(`SELECT id, record FROM hook_runs ${rest}`, ...values);
    return rows.map((row) => readRecord(this.#database, hookRunSchema, row));
  }
}
