import { UserError } from "../../errors/user-error.ts";
import { failPoint } from "../../faults/fail-point.ts";
import { DatabaseSync } from "./driver.ts";
import { SharedTransaction } from "./shared-transaction.ts";

export type Value = string | number | null;
export type Row = Record<string, unknown>;

type Statement = ReturnType<DatabaseSync["prepare"]>;

const opened = new Set<string>();

/** Whether this process has, or had, a connection to it. */
export function wasOpened(file: string): boolean {
  return opened.has(file);
}

/** One connection, whose errors are said in words a person can act on. */
export class Database {
  readonly file: string;
  readonly #connection: DatabaseSync;
  readonly #readOnly: boolean;
  readonly #statements = new Map<string, Statement>();
  readonly #shared = new SharedTransaction((work) => this.transaction(work));

  constructor(file: string, options: { readOnly?: boolean } = {}) {
    this.file = file;
    this.#readOnly = options.readOnly ?? false;
    opened.add(file);
    this.#connection = explained(file, () => new DatabaseSync(file, { readOnly: this.#readOnly }));
    this.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  }

  exec(sql: string): void {
    explained(this.file, () => this.#connection.exec(sql));
  }

  all(sql: string, ...values: Value[]): Row[] {
    return explained(this.file, () => this.#statement(sql).all(...values));
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return explained(this.file, () => this.#statement(sql).get(...values));
  }

  /** How many rows it changed. */
  run(sql: string, ...values: Value[]): number {
    return explained(this.file, () => Number(this.#statement(sql).run(...values).changes));
  }

  /** All or nothing, and durable when it returns. */
  transaction<T>(work: () => T): T {
    this.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      explained(this.file, () => failPoint("database write"));
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite has already rolled back by itself after some errors, such as a full disk.
      if (this.#connection.isTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  /** The same, but shared with others who ask at the same time; durable when it resolves. */
  together<T>(work: (transaction: object) => T): Promise<T> {
    return this.#shared.join(work);
  }

  get version(): number {
    return Number(this.get("PRAGMA user_version")?.user_version);
  }

  close(): void {
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

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

export function damaged(file: string, found: string, cause?: unknown): UserError {
  return new UserError("state_damaged", `${file} is damaged: ${found}`, { cause });
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
