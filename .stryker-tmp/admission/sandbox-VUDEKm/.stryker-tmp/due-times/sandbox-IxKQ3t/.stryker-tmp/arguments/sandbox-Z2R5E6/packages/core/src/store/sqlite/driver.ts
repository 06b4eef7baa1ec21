import { getBuiltinModule } from "node:process";
import type { DatabaseSync as DatabaseSyncInstance } from "node:sqlite";

export const { DatabaseSync } = loadWithoutWarning();
export type DatabaseSync = DatabaseSyncInstance;

/** Node 22 and 24 warn on stderr, once per process, that SQLite is experimental. */
function loadWithoutWarning() {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}
