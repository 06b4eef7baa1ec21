import { UserError } from "../../errors/user-error.ts";
import type { HookQuery, HookStore } from "../contract.ts";
import { type CalledHook, type HookEnd, type HookRun, hookRunSchema } from "../hook-run.ts";
import { newHookId } from "../names.ts";
import type { Database, Value } from "./database.ts";
import { readRecord } from "./record.ts";

export class SqliteHookStore implements HookStore {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async undecided(): Promise<string[]> {
    const sql = "SELECT job_id FROM endings ORDER BY seq";
    return this.#database.all(sql).map((row) => String(row.job_id));
  }

  async decide(called: ReadonlyMap<string, readonly CalledHook[]>): Promise<HookRun[]> {
    return this.#database.transaction(() =>
      [...called].flatMap(([jobId, hooks]) => {
        const isOpen = this.#database.run("DELETE FROM endings WHERE job_id = ?", jobId) > 0;
        return isOpen ? hooks.map((hook) => this.#insert(jobId, hook)) : [];
      }),
    );
  }

  async open(): Promise<HookRun[]> {
    return this.#select("WHERE status IN ('due', 'running') ORDER BY seq");
  }

  async get(id: string): Promise<HookRun | undefined> {
    return this.#select("WHERE id = ?", id)[0];
  }

  async list({ jobId, status, limit }: HookQuery): Promise<HookRun[]> {
    const order = "ORDER BY seq DESC LIMIT ?";
    const parts = [
      ...(jobId === undefined ? [] : [["job_id = ?", jobId] as const]),
      ...(status === undefined ? [] : [["status = ?", status] as const]),
    ];
    const where = parts.length === 0 ? "" : `WHERE ${parts.map(([sql]) => sql).join(" AND ")}`;
    return this.#select(`${where} ${order}`, ...parts.map(([, value]) => value), limit);
  }

  async begin(id: string): Promise<HookRun | undefined> {
    return this.#database.transaction(() => {
      const run = this.#expect(id);
      if (run.status !== "due") return undefined;
      const started_at = this.#clock().toISOString();
      const attempts = run.attempts + 1;
      return this.#save({ ...run, status: "running", attempts, started_at, due_at: null });
    });
  }

  async end(id: string, end: HookEnd): Promise<HookRun> {
    return this.#database.transaction(() => {
      const run = this.#expect(id);
      const isOver = end.status !== "due";
      const finished_at = isOver ? this.#clock().toISOString() : null;
      const due_at = end.status === "due" ? end.due_at : null;
      return this.#save({ ...run, ...end, due_at, finished_at });
    });
  }

  async retry(id: string): Promise<HookRun> {
    return this.#database.transaction(() => {
      const run = this.#expect(id);
      if (run.status !== "failed") {
        throw new UserError("hook_not_failed", `${id} has not failed: it is ${run.status}`);
      }
      const due_at = this.#clock().toISOString();
      return this.#save({ ...run, status: "due", due_at, finished_at: null });
    });
  }

  #insert(job_id: string, hook: CalledHook): HookRun {
    const now = this.#clock().toISOString();
    const run = hookRunSchema.parse({
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
    this.#database.run(sql, run.id, job_id, JSON.stringify(run));
    return run;
  }

  #save(run: HookRun): HookRun {
    const checked = hookRunSchema.parse(run);
    const sql = "UPDATE hook_runs SET record = ? WHERE id = ?";
    this.#database.run(sql, JSON.stringify(checked), run.id);
    return checked;
  }

  #expect(id: string): HookRun {
    const [run] = this.#select("WHERE id = ?", id);
    if (!run) throw new UserError("hook_not_found", `there is no hook run ${id}`);
    return run;
  }

  #select(rest: string, ...values: Value[]): HookRun[] {
    return this.#database
      .all(`SELECT id, record FROM hook_runs ${rest}`, ...values)
      .map((row) => readRecord(this.#database, hookRunSchema, row));
  }
}
