import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import { openPostgres } from "../postgres/open.ts";
import { parseStoreAddress } from "../postgres/store-address.ts";
import { acquireLock } from "../sqlite/state-lock.ts";
import { type CopiedTableResult, copyTables } from "./copy-tables.ts";
import { SqliteSource } from "./sqlite-source.ts";

export interface MigrateOptions {
  stateDir: string;
  /** Address of the PostgreSQL database. */
  store: string;
  /** The node of this state. */
  node: string;
  onTable?(table: CopiedTableResult): void;
}

export interface MigrationResult {
  /** The address of the new store, without a password. */
  store: string;
  tables: CopiedTableResult[];
}

/**
 * Copies an embedded state into an empty shared store: everything or nothing, compared before it is
 * committed. The embedded state stays unchanged.
 */
export async function migrateState(options: MigrateOptions): Promise<MigrationResult> {
  parseStoreAddress(options.store);
  const lock = acquireLock(options.stateDir);
  try {
    const source = new SqliteSource(join(options.stateDir, "herd.db"));
    try {
      assertNothingRunning(source.runningJobIds());
      return await copyToPostgres(options, source);
    } finally {
      source.close();
    }
  } finally {
    lock.release();
  }
}

async function copyToPostgres(
  { store, node, onTable }: MigrateOptions,
  source: SqliteSource,
): Promise<MigrationResult> {
  const opened = await openPostgres(store);
  try {
    const { database } = opened;
    const tables = await database.transaction(() => copyTables({ source, node, onTable }));
    // The server would analyze the tables itself, but only minutes later. Errors do not matter.
    const names = tables.map(({ table }) => `herdctl.${table}`);
    await database.execute(`ANALYZE ${names.join(", ")}`).catch(() => undefined);
    return { store: database.name, tables };
  } finally {
    await opened.close();
  }
}

/** Runners write their end to the embedded state, so none may be running. */
function assertNothingRunning(jobs: readonly string[]): void {
  if (jobs.length === 0) return;
  const what = jobs.length === 1 ? `job ${jobs[0]} is` : `${jobs.length} jobs are`;
  throw new UserError("fleet_running", `${what} still running, although the fleet has stopped`, {
    hint: "Run `herdctl start --detach`, then `herdctl stop`, which waits for running jobs. Then try again.",
  });
}
