import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import type { SqlDatabase } from "../../packages/core/src/state/sql/sql-database.ts";
import { makeStores } from "../../packages/core/src/state/sql/stores.ts";
import { Database } from "../../packages/core/src/state/sqlite/database.ts";
import { migrateNew, migrations } from "../../packages/core/src/state/sqlite/migrations.ts";

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

/** On which database the stores of this test file stand. */
let openEmpty: () => Promise<SqlDatabase> = async () => memoryDatabase();

export function useDatabase(open: () => Promise<SqlDatabase>): void {
  openEmpty = open;
}

/** The real stores over an empty database, with a clock and a process table of the test's own. */
export async function newStores() {
  return storesOver(await openEmpty());
}

/** The same in memory, for what is about SQLite. */
export function memoryStores() {
  return storesOver(memoryDatabase());
}

function memoryDatabase(): Database {
  const database = new Database(":memory:");
  onCleanup(() => database.close());
  migrateNew(database, migrations);
  return database;
}

export function storesOver<D extends SqlDatabase>(database: D) {
  const time = { now: Date.parse("2030-01-01T00:00:00.000Z") };
  const dead = new Set<number>();
  const gone = new Set<string>();
  const clock = () => new Date(time.now);
  const stores = makeStores(database, {
    clock,
    outputFile: (id) => `/state/jobs/${id}/output.jsonl`,
    isAlive: ({ pid }) => !dead.has(pid),
    isNodeGone: (node) => gone.has(node),
  });
  return { time, dead, gone, database, ...stores };
}

export interface Program {
  child: ChildProcessByStdio<Writable, Readable, null>;
  lines: Interface;
  nextLine(): Promise<string>;
  ended: Promise<void>;
  kill(): Promise<void>;
}

/** A program of this folder in a process of its own. */
export function startProgram(name: string, ...args: string[]): Program {
  const [node = "", ...rest] = command(name, ...args);
  const child = spawn(node, rest, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout });
  const iterator = lines[Symbol.asyncIterator]();
  const kill = () => {
    child.kill("SIGKILL");
    return ended;
  };
  onCleanup(kill);
  return { child, lines, ended, kill, nextLine: async () => String((await iterator.next()).value) };
}

export function command(name: string, ...args: string[]): string[] {
  const file = (path: string) => fileURLToPath(new URL(`./programs/${path}`, import.meta.url));
  return [process.execPath, "--import", file("typescript.mjs"), file(`${name}.ts`), ...args];
}
