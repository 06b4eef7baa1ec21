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
