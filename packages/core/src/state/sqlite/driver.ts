import { createRequire, isBuiltin } from "node:module";
import type {
  DatabaseSync as DatabaseSyncClass,
  DatabaseSyncInstance,
} from "@photostructure/sqlite";

const builtIn = "node:sqlite";

/** SQLite as Node carries it from 22.13 on; before that a package with the same interface. */
export const { DatabaseSync }: { DatabaseSync: typeof DatabaseSyncClass } = loadQuietly(
  isBuiltin(builtIn) ? builtIn : "@photostructure/sqlite",
);
export type DatabaseSync = DatabaseSyncInstance;

/** Node 22 and 24 say on stderr, once a process, that their SQLite is experimental. */
function loadQuietly(name: string) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return createRequire(import.meta.url)(name);
  } finally {
    process.emitWarning = emitWarning;
  }
}
