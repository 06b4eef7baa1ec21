import type { Value } from "../sql/steps.ts";
import { DatabaseSync } from "../sqlite/driver.ts";
import { openForReading } from "../sqlite/open.ts";
import { type CopiedTable, copiedTables, leftBehind } from "./tables.ts";

const pageSize = 200;

/** The embedded database as it is read row by row; nothing in it is changed. */
export class EmbeddedSource {
  readonly #connection: DatabaseSync;

  constructor(file: string) {
    // Says in words what is wrong with it: damaged, or of another version.
    openForReading(file).close();
    this.#connection = new DatabaseSync(file, { readOnly: true });
    const unknown = this.#tables().filter((name) => !isKnown(name));
    if (unknown.length > 0) throw new Error(`nobody says how to copy ${unknown.join(", ")}`);
  }

  /** What is kept, without what is derived from it or numbered by the database. */
  columns({ name }: CopiedTable): string[] {
    const found = this.#connection
      .prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0")
      .all(name);
    return found.map((row) => String(row.name)).filter((column) => column !== "seq");
  }

  /** Page by page: a walk that is left open between two steps does not outlive them in every SQLite. */
  *rows({ name, order }: CopiedTable): Generator<Value[]> {
    const columns = this.columns({ name, order });
    const keys = order.split(", ");
    const known = keys.map(() => "?").join(", ");
    const page = (from: string) =>
      `SELECT ${columns.join(", ")}, ${keys.map((key, at) => `${key} AS key_${at}`).join(", ")}
       FROM ${name} ${from} ORDER BY ${order} LIMIT ${pageSize}`;
    const [first, next] = [page(""), page(`WHERE (${order}) > (${known})`)];
    for (let last: Value[] = []; ; ) {
      const statement = this.#connection.prepare(last.length === 0 ? first : next);
      const rows = statement.all(...last);
      for (const row of rows) yield columns.map((column) => valueIn(row, column));
      if (rows.length < pageSize) return;
      last = keys.map((_, at) => valueIn(rows.at(-1), `key_${at}`));
    }
  }

  /** Jobs whose runner may still be at work. */
  running(): string[] {
    const rows = this.#connection
      .prepare("SELECT id FROM jobs WHERE status = 'running' ORDER BY seq")
      .all();
    return rows.map((row) => String(row.id));
  }

  close(): void {
    this.#connection.close();
  }

  #tables(): string[] {
    const sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    return this.#connection
      .prepare(sql)
      .all()
      .map((row) => String(row.name));
  }
}

function isKnown(name: string): boolean {
  return leftBehind.includes(name) || copiedTables.some((table) => table.name === name);
}

function valueIn(row: unknown, column: string): Value {
  const value = (row as Record<string, unknown>)[column];
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  throw new Error(`${column} holds what is neither text nor number`);
}
