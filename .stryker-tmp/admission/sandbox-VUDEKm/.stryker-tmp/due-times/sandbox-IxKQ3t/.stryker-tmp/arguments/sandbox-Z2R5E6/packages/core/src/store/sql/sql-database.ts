import type { SqlProgram } from "./sql-program.ts";

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
