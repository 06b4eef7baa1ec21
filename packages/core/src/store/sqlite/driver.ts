import { getBuiltinModule } from "node:process";
import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";

export type { DatabaseSync };

/** Loads SQLite when the first database is opened: Node 22 then warns that it is experimental. */
export function openSqlite(file: string, options: DatabaseSyncOptions = {}): DatabaseSync {
  const { DatabaseSync } = getBuiltinModule("node:sqlite");
  return new DatabaseSync(file, options);
}
