import { UserError } from "../../errors/user-error.ts";
import { failPoint } from "../../faults/fail-point.ts";
import { damaged } from "../sql/record.ts";
import type { Dialect, SqlDatabase } from "../sql/sql-database.ts";
import type { Query, Row, Steps, Value } from "../sql/steps.ts";
import { DatabaseSync } from "./driver.ts";
import { SharedTransaction } from "./shared-transaction.ts";

type Statement = ReturnType<DatabaseSync["prepare"]>;

const dialect: Dialect = {
  greatest: "max",
  hint: (index) => `INDEXED BY ${index}`,
  nodes: false,
};

const opened = new Set<string>();

/** Whether this process has, or had, a connection to it. */
export function wasOpened(file: string): boolean {
  return opened.has(file);
}

/**
 * One connection, whose errors are said in words a person can act on. SQLite answers at once, so all
 * steps of a piece of work are done in one go and nothing else comes between them.
 */
export class Database implements SqlDatabase {
  /** The file. */
  readonly name: string;
  readonly dialect = dialect;
  readonly #connection: DatabaseSync;
  readonly #readOnly: boolean;
  readonly #statements = new Map<string, Statement>();
  readonly #shared = new SharedTransaction((work) => this.atOnce(work));

  constructor(file: string, options: { readOnly?: boolean } = {}) {
    this.name = file;
    this.#readOnly = options.readOnly ?? false;
    opened.add(file);
    this.#connection = explained(file, () => new DatabaseSync(file, { readOnly: this.#readOnly }));
    this.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  }

  exec(sql: string): void {
    explained(this.name, () => this.#connection.exec(sql));
  }

  all(sql: string, ...values: Value[]): Row[] {
    return explained(this.name, () => this.#statement(sql).all(...values));
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return explained(this.name, () => this.#statement(sql).get(...values));
  }

  /** How many rows it changed. */
  run(sql: string, ...values: Value[]): number {
    return explained(this.name, () => Number(this.#statement(sql).run(...values).changes));
  }

  async read<T>(work: () => Steps<T>): Promise<T> {
    return this.#drive(work());
  }

  async transaction<T>(work: () => Steps<T>): Promise<T> {
    return this.atOnce(() => this.#drive(work()));
  }

  together<T>(work: (transaction: object) => Steps<T>): Promise<T> {
    return this.#shared.join((transaction) => this.#drive(work(transaction)));
  }

  /** A transaction that is durable when it returns. */
  atOnce<T>(work: () => T): T {
    this.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      explained(this.name, () => failPoint("database write"));
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite has already rolled back by itself after some errors, such as a full disk.
      if (this.#connection.isTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  get version(): number {
    return Number(this.get("PRAGMA user_version")?.user_version);
  }

  async close(): Promise<void> {
    this.closeNow();
  }

  closeNow(): void {
    if (!this.#connection.isOpen) return;
    this.#shared.commit();
    if (!this.#readOnly) this.#foldJournal();
    this.#statements.clear();
    this.#connection.close();
  }

  /**
   * SQLite does this by itself, but only once the last prepared statement is gone, and the package
   * for Node 20 leaves that to the garbage collector.
   */
  #foldJournal(): void {
    try {
      this.#connection.exec("PRAGMA busy_timeout = 100; PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Nothing is lost: the journal stays, and the next to open the database reads it.
    }
  }

  #drive<T>(steps: Steps<T>): T {
    let step = steps.next();
    while (!step.done) step = steps.next(this.#answer(step.value));
    return step.value;
  }

  #answer({ kind, sql, values }: Query): Row[] | number {
    return kind === "rows" ? this.all(sql, ...values) : this.run(sql, ...values);
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** SQLite's primary result code of an error, if it is one of SQLite's. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

export const sqliteBusy = 5;
const corrupt = 11;
const notADatabase = 26;

/** What keeps a sound database from being used. */
const obstacles: Record<number, string> = {
  [sqliteBusy]: "another process holds it",
  8: "it may only be read",
  10: "the disk reports an error",
  13: "the disk is full",
  14: "it cannot be opened",
};

function explained<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explain(file, error);
  }
}

/** An error of SQLite in a person's words; any other as it is. */
export function explain(file: string, cause: unknown): unknown {
  const code = sqliteCode(cause);
  if (code === undefined || !(cause instanceof Error)) return cause;
  if (code === corrupt || code === notADatabase) return damaged(file, cause.message, cause);
  const obstacle = obstacles[code];
  if (obstacle === undefined) return cause;
  return new UserError("state_unavailable", `${file} cannot be used: ${obstacle}`, { cause });
}
