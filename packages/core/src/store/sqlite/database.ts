import { UserError } from "@herdctl/protocol";
import { failPoint } from "../../testing/failpoints.ts";
import { toFts5Query } from "../model/search-text.ts";
import type {
  SqlDatabase,
  SqlDialect,
  SqlProgram,
  SqlRow,
  SqlStatement,
  SqlValue,
} from "../sql/sql-program.ts";
import { damagedError } from "../sql/sql-program.ts";
import { type DatabaseSync, openSqlite } from "./driver.ts";
import { SqliteGroupCommit } from "./group-commit.ts";

type Statement = ReturnType<DatabaseSync["prepare"]>;

const dialect: SqlDialect = {
  greatest: "max",
  hint: (index) => `INDEXED BY ${index}`,
  hasNodes: false,
  textSearch: {
    from: "job_words JOIN jobs ON jobs.seq = job_words.rowid JOIN job_texts ON job_texts.seq = job_words.rowid",
    matches: "job_words MATCH ?",
    seq: "job_words.rowid",
    isOrdered: true,
    toQuery: toFts5Query,
  },
};

/**
 * One connection with readable errors. SQLite answers synchronously, so all steps of a program run
 * without interruption.
 */
export class SqliteDatabase implements SqlDatabase {
  /** The file. */
  readonly name: string;
  readonly dialect = dialect;
  private readonly connection: DatabaseSync;
  private isOpen = true;
  private readonly statements = new Map<string, Statement>();
  private readonly committer = new SqliteGroupCommit((work) => this.transactionSync(work));

  constructor(file: string, options: { readOnly?: boolean } = {}) {
    this.name = file;
    this.connection = explainErrors(file, () => openSqlite(file, options));
    this.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  }

  exec(sql: string): void {
    explainErrors(this.name, () => this.connection.exec(sql));
  }

  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return explainErrors(this.name, () => this.prepareCached(sql).all(...values));
  }

  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return explainErrors(this.name, () => this.prepareCached(sql).get(...values));
  }

  run(sql: string, ...values: SqlValue[]): number {
    return explainErrors(this.name, () => Number(this.prepareCached(sql).run(...values).changes));
  }

  async read<T>(work: () => SqlProgram<T>): Promise<T> {
    return this.runProgram(work());
  }

  async transaction<T>(work: () => SqlProgram<T>): Promise<T> {
    return this.transactionSync(() => this.runProgram(work()));
  }

  groupCommit<T>(work: (transaction: object) => SqlProgram<T>): Promise<T> {
    return this.committer.add((transaction) => this.runProgram(work(transaction)));
  }

  /** A transaction that is durable when it returns. */
  transactionSync<T>(work: () => T): T {
    this.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      explainErrors(this.name, () => failPoint("database write"));
      this.exec("COMMIT");
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  get schemaVersion(): number {
    return Number(this.get("PRAGMA user_version")?.user_version);
  }

  async close(): Promise<void> {
    this.closeSync();
  }

  closeSync(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.committer.flush();
    this.statements.clear();
    this.connection.close();
  }

  private rollBack(): void {
    try {
      this.connection.exec("ROLLBACK");
    } catch {
      // After some errors, such as a full disk, SQLite has already rolled back.
    }
  }

  private runProgram<T>(steps: SqlProgram<T>): T {
    let step = steps.next();
    while (!step.done) step = steps.next(this.executeStatement(step.value));
    return step.value;
  }

  private executeStatement({ kind, sql, values }: SqlStatement): SqlRow[] | number {
    return kind === "rows" ? this.all(sql, ...values) : this.run(sql, ...values);
  }

  private prepareCached(sql: string): Statement {
    const cached = this.statements.get(sql);
    if (cached) return cached;
    const statement = this.connection.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}

/** SQLite's primary result code of an error; undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

export const sqliteBusy = 5;
const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;

/** Reasons why an intact database cannot be used. */
const unavailableReasons: Record<number, string> = {
  [sqliteBusy]: "another process has locked it",
  8: "it is read-only",
  10: "the disk reports an error",
  13: "the disk is full",
  14: "it cannot be opened",
};

function explainErrors<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toSqliteUserError(file, error);
  }
}

/** Turns an error of SQLite into a readable one; returns others unchanged. */
export function toSqliteUserError(file: string, cause: unknown): unknown {
  const code = sqliteCode(cause);
  if (code === undefined || !(cause instanceof Error)) return cause;
  if (code === sqliteCorrupt || code === sqliteNotADatabase)
    return damagedError(file, cause.message, { cause });
  const reason = unavailableReasons[code];
  if (reason === undefined) return cause;
  return new UserError("state_unavailable", `${file} cannot be used: ${reason}`, { cause });
}
