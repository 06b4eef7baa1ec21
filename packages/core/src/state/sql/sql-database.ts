import type { Steps } from "./steps.ts";

/*
 * What a statement may say, since two databases have to understand it: placeholders are `?` or `?1`;
 * what it searches by is a column, never a path into a record; columns are text, integers and
 * double precision, and what is true or false is the integer 1 or 0. A count, a sum and the number
 * of a row are read with `Number`: where they may be large they come as text. Rows are in the order
 * of their insertion by `seq`, or by `rowid` where a table has another key.
 */

/** The few words in which the databases differ. */
export interface Dialect {
  /** The larger of two values in a row, not of a column. */
  greatest: "max" | "greatest";
  /** Names the index that a walk must take, where that can be said. */
  hint(index: string): string;
  /** Several nodes may share it: jobs are read with the node that has them. */
  nodes: boolean;
}

export interface SqlDatabase {
  /** Where it is, without a password: for messages. */
  readonly name: string;
  readonly dialect: Dialect;
  read<T>(work: () => Steps<T>): Promise<T>;
  /** All or nothing, one writer at a time, and durable when it resolves. */
  transaction<T>(work: () => Steps<T>): Promise<T>;
  /** The same, but shared with others who ask at the same time. The work may be done twice. */
  together<T>(work: (transaction: object) => Steps<T>): Promise<T>;
  close(): Promise<void>;
}
