import { join } from "node:path";
import { UserError } from "../../errors/user-error.ts";
import { acquireLock } from "../lock.ts";
import { parseAddress } from "../postgres/address.ts";
import { openPostgres } from "../postgres/open.ts";
import { type CopiedTableResult, copyTables } from "./copy-tables.ts";
import { EmbeddedSource } from "./embedded-source.ts";

export interface MigrateOptions {
  stateDir: string;
  /** Address of the PostgreSQL. */
  store: string;
  /** Who the node of this state is. */
  node: string;
  onTable?(table: CopiedTableResult): void;
}

export interface Migrated {
  /** Where it is now, without a password. */
  store: string;
  tables: CopiedTableResult[];
}

/**
 * Copies an embedded state into an empty shared store: all of it or nothing, read back and compared
 * before it is kept. The embedded one stays as it is.
 */
export async function migrateState(options: MigrateOptions): Promise<Migrated> {
  parseAddress(options.store);
  const lock = acquireLock(options.stateDir);
  try {
    const source = new EmbeddedSource(join(options.stateDir, "herd.db"));
    try {
      refuseWhileRunning(source.running());
      return await copyTo(options, source);
    } finally {
      source.close();
    }
  } finally {
    lock.release();
  }
}

async function copyTo(
  { store, node, onTable }: MigrateOptions,
  source: EmbeddedSource,
): Promise<Migrated> {
  const opened = await openPostgres(store);
  try {
    const { database } = opened;
    const tables = await database.transaction(() => copyTables({ source, node, onTable }));
    // The server would find out by itself, but minutes later; nothing depends on it.
    const names = tables.map(({ table }) => `herdctl.${table}`);
    await database.execute(`ANALYZE ${names.join(", ")}`).catch(() => undefined);
    return { store: database.name, tables };
  } finally {
    await opened.close();
  }
}

/** A runner writes its end where it was started from. */
function refuseWhileRunning(jobs: readonly string[]): void {
  if (jobs.length === 0) return;
  const what = jobs.length === 1 ? `the job ${jobs[0]} is` : `${jobs.length} jobs are`;
  throw new UserError("fleet_running", `${what} still under way, though the fleet has stopped`, {
    hint: "Run `herdctl start --detach`, then `herdctl stop`, which waits for them; then try again.",
  });
}
