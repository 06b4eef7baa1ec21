export type Value = string | number | null;
export type Row = Record<string, unknown>;

/** One statement. Placeholders are `?`, or `?1` where one value stands in several places. */
export interface Query {
  kind: "rows" | "count";
  sql: string;
  values: readonly Value[];
}

/**
 * Work on a database that does not know which one: it names its statements one after the other and
 * is given what they found. SQLite answers at once, PostgreSQL when the network has; the work is
 * the same.
 */
export type Steps<T> = Generator<Query, T, Answer>;

/** Rows for a query that asks for rows, a count for one that changes them. */
export type Answer = Row[] | number;

export function* all(sql: string, ...values: Value[]): Steps<Row[]> {
  const found = yield { kind: "rows", sql, values };
  if (typeof found === "number") throw new Error("a database answered with a count");
  return found;
}

export function* one(sql: string, ...values: Value[]): Steps<Row | undefined> {
  return (yield* all(sql, ...values))[0];
}

/** How many rows it changed. */
export function* run(sql: string, ...values: Value[]): Steps<number> {
  const count = yield { kind: "count", sql, values };
  if (typeof count !== "number") throw new Error("a database answered with rows");
  return count;
}
