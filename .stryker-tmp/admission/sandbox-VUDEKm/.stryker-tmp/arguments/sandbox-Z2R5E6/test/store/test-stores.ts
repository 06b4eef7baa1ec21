import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { SqlDatabase } from "../../packages/core/src/store/sql/sql-database.ts";
import { createStores } from "../../packages/core/src/store/sql/stores.ts";
import { SqliteDatabase } from "../../packages/core/src/store/sqlite/database.ts";
import { createSchema, migrations } from "../../packages/core/src/store/sqlite/migrations.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

export function onCleanup(clean: () => unknown): void {
  cleanups.push(clean);
}

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-state-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens an empty database for the stores of this test file. */
let openEmpty: () => Promise<SqlDatabase> = async () => memoryDatabase();

export function useDatabaseFactory(open: () => Promise<SqlDatabase>): void {
  openEmpty = open;
}

/** The real stores on an empty database, with a simulated clock and process table. */
export async function openStores() {
  return createTestStores(await openEmpty());
}

/** The same stores in memory, for tests about SQLite. */
export function memoryStores() {
  return createTestStores(memoryDatabase());
}

function memoryDatabase(): SqliteDatabase {
  const database = new SqliteDatabase(":memory:");
  onCleanup(() => database.close());
  createSchema(database, migrations);
  return database;
}

export function createTestStores<D extends SqlDatabase>(database: D) {
  const time = { now: Date.parse("2030-01-01T00:00:00.000Z") };
  const deadProcesses = new Set<number>();
  const goneNodes = new Set<string>();
  const clock = () => new Date(time.now);
  const stores = createStores(database, {
    clock,
    outputFile: (id) => `/state/jobs/${id}/output.jsonl`,
    isAlive: ({ pid }) => !deadProcesses.has(pid),
    isNodeGone: (node) => goneNodes.has(node),
  });
  return { time, dead: deadProcesses, gone: goneNodes, database, ...stores };
}
