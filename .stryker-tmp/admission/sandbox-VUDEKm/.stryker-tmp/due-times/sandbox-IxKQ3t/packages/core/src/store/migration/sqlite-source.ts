import type { SqlValue } from "../sql/sql-program.ts";
import { DatabaseSync } from "../sqlite/driver.ts";
import { openForReading } from "../sqlite/open.ts";
import { type CopiedTable, copiedTables, skippedTables } from "./copied-tables.ts";

/** Reads the embedded database row by row, without changing it. */
export class SqliteSource {
  readonly #connection: DatabaseSync;

  constructor(file: string) {
    // Gives a readable error if the database is damaged or of another version.
    openForReading(file).close();
    this.#connection = new DatabaseSync(file, { readOnly: true });
    const unknownTables = this.#tableNames().filter((name) => !isKnownTable(name));
    if (unknownTables.length > 0)
      throw new Error(`no copy rule for the tables ${unknownTables.join(", ")}`);
  }

  /** Stored columns, without those that are derived or numbered by the database. */
  columns({ name }: CopiedTable): string[] {
    const names = this.#selectStrings(
      "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0",
      name,
    );
    return names.filter((column) => column !== "seq");
  }

  *rows({ name, order }: CopiedTable): Generator<SqlValue[]> {
    const columns = this.columns({ name, order });
    const sql = `SELECT ${columns.join(", ")} FROM ${name} ORDER BY ${order}`;
    for (const row of this.#connection.prepare(sql).iterate()) {
      yield columns.map((column) => readValue(row, column));
    }
  }

  /** Jobs whose runner may still be running. */
  runningJobIds(): string[] {
    return this.#selectStrings("SELECT id FROM jobs WHERE status = 'running' ORDER BY seq");
  }

  close(): void {
    this.#connection.close();
  }

  #tableNames(): string[] {
    const sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    return this.#selectStrings(sql);
  }

  /** The first column of each row. */
  #selectStrings(sql: string, ...values: SqlValue[]): string[] {
    const rows = this.#connection.prepare(sql).all(...values);
    return rows.map((row) => String(Object.values(row as object)[0]));
  }
}

function isKnownTable(name: string): boolean {
  return skippedTables.includes(name) || copiedTables.some((table) => table.name === name);
}

function readValue(row: unknown, column: string): SqlValue {
  const value = (row as Record<string, unknown>)[column];
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  throw new Error(`${column} contains a value that is neither text nor number`);
}
