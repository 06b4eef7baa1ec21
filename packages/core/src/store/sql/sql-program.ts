import { UserError } from "@herdctl/protocol";
import type { z } from "zod";

export type SqlValue = string | number | null;
export type SqlRow = Record<string, unknown>;

/** A statement. Placeholders are `?`, or `?1` if a value is used several times. */
export interface SqlStatement {
  kind: "rows" | "count";
  sql: string;
  values: readonly SqlValue[];
}

/**
 * Work on a database, independent of the driver: it yields statements and receives their results.
 * SQLite runs it synchronously, PostgreSQL asynchronously.
 */
export type SqlProgram<T> = Generator<SqlStatement, T, SqlResult>;

/** Rows for a query, or the number of changed rows. */
export type SqlResult = SqlRow[] | number;

export function* queryRows(sql: string, ...values: SqlValue[]): SqlProgram<SqlRow[]> {
  const found = yield { kind: "rows", sql, values };
  if (typeof found === "number") throw new Error("expected rows, got a count");
  return found;
}

export function* queryRow(sql: string, ...values: SqlValue[]): SqlProgram<SqlRow | undefined> {
  return (yield* queryRows(sql, ...values))[0];
}

/** Returns the number of changed rows. */
export function* execute(sql: string, ...values: SqlValue[]): SqlProgram<number> {
  const count = yield { kind: "count", sql, values };
  if (typeof count !== "number") throw new Error("expected a count, got rows");
  return count;
}

/*
 * Rules for statements, which two databases must understand. Placeholders are `?` or `?1`.
 * Conditions use columns, never paths into a record. Columns are text, integers or double
 * precision; booleans are the integers 1 and 0. Counts, sums and row numbers are read with
 * `Number`, because large ones arrive as text. Rows are in insertion order by `seq`, or by `rowid`
 * in tables with another key.
 */

/** The differences between the databases. */
export interface SqlDialect {
  /** The larger of two values, not of a column. */
  greatest: "max" | "greatest";
  /** Names the index to use, if the database supports that. */
  hint(index: string): string;
  /** Several nodes may share the store: jobs are read with their node. */
  hasNodes: boolean;
  textSearch: TextSearchDialect;
}

/** How the words of `job_texts` are searched. */
interface TextSearchDialect {
  /** The joined tables, with `jobs` and `job_texts`. */
  from: string;
  /** A condition with one placeholder for the query. */
  matches: string;
  /** The job's number in the index, by which results are sorted. */
  seq: string;
  /** Whether the index returns matches in this order. */
  isOrdered: boolean;
  toQuery(terms: readonly string[][]): string;
}

export interface SqlDatabase {
  /** Location without a password, for messages. */
  readonly name: string;
  readonly dialect: SqlDialect;
  read<T>(work: () => SqlProgram<T>): Promise<T>;
  /** Atomic, one writer at a time, and durable when it resolves. */
  transaction<T>(work: () => SqlProgram<T>): Promise<T>;
  /** Like `transaction`, but shared with concurrent calls. The work may run twice. */
  groupCommit<T>(work: (transaction: object) => SqlProgram<T>): Promise<T>;
  close(): Promise<void>;
}

/** Reads a stored record. A record that does not match its schema was damaged on the disk. */
export function readRecord<S extends z.ZodType>(
  { name }: Pick<SqlDatabase, "name">,
  schema: S,
  row: SqlRow,
  computedFields: object = {},
): z.output<S> {
  try {
    return schema.parse({ ...JSON.parse(String(row.record)), ...computedFields });
  } catch (cause) {
    const id = String(row.id ?? row.session_id ?? row.job_id);
    throw damagedError(name, `the record of ${id} cannot be read`, { cause });
  }
}

export function damagedError(
  name: string,
  finding: string,
  options: { hint?: string; cause?: unknown } = {},
): UserError {
  return new UserError("state_damaged", `${name} is damaged: ${finding}`, options);
}

/** A group of tables. */
export class SqlStore {
  constructor(
    protected readonly database: SqlDatabase,
    protected readonly clock: () => Date,
  ) {}
}
