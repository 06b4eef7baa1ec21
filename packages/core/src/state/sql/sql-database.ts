import type { Steps } from "./steps.ts";

/** The few words in which the databases differ. */
export interface Dialect {
  /** The larger of two values in a row, not of a column. */
  greatest: "max" | "greatest";
  /** Names the index that a walk must take, where that can be said. */
  hint(index: string): string;
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
