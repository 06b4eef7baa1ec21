import { createHash } from "node:crypto";
import { UserError } from "@herdctl/protocol";
import {
  execute,
  queryRow,
  queryRows,
  type SqlProgram,
  type SqlValue,
} from "../sql/sql-program.ts";
import { type CopiedTable, copiedTables, hasMeaningfulOrder } from "./copied-tables.ts";
import type { SqliteSource } from "./sqlite-source.ts";

export interface CopyOptions {
  source: SqliteSource;
  /** The node of the copied state, which has its sessions. */
  node: string;
  onTable?(table: CopiedTableResult): void;
}

export interface CopiedTableResult {
  table: string;
  rows: number;
  checksum: string;
}

/** Copies all tables in the surrounding transaction, and reads them back before it commits. */
export function* copyTables(options: CopyOptions): SqlProgram<CopiedTableResult[]> {
  yield* assertEmpty();
  const copied: CopiedTableResult[] = [];
  for (const table of copiedTables) {
    // The ends of copied jobs are not new; open endings are copied as they are.
    if (table.name === "endings") yield* execute("DELETE FROM endings");
    const expected = yield* copyRows(table, options);
    const found = yield* readBack(table, options.source.columns(table));
    if (!expected.equals(found)) throw mismatchError(table, expected, found);
    const result = { table: table.name, rows: found.rows, checksum: found.checksum };
    options.onTable?.(result);
    copied.push(result);
  }
  return copied;
}

function* assertEmpty(): SqlProgram<void> {
  const found = yield* queryRow("SELECT count(*) AS count FROM nodes WHERE status = 'live'");
  if (Number(found?.count) > 0) {
    throw notEmptyError(
      "nodes are running on it",
      "Stop the fleet that uses it, or use another database.",
    );
  }
  for (const { name } of copiedTables) {
    if ((yield* queryRow(`SELECT 1 AS found FROM ${name} LIMIT 1`)) === undefined) continue;
    const hint =
      "Use a new database, or drop the schema `herdctl` in this one if it is no longer needed.";
    throw notEmptyError(`it already contains ${name}`, hint);
  }
}

function notEmptyError(message: string, hint: string): UserError {
  return new UserError("store_refused", `the shared store is not empty: ${message}`, { hint });
}

const maxBatchRows = 100;
const maxBatchCharacters = 1_000_000;

function* copyRows(table: CopiedTable, { source, node }: CopyOptions): SqlProgram<TableChecksum> {
  const columns = source.columns(table);
  const sum = new TableChecksum(hasMeaningfulOrder(table));
  for (const batch of batches(source.rows(table))) {
    const rows = batch.map((row) => withNodeId(table.name, columns, row, node));
    for (const row of rows) sum.add(row);
    const placeholders = `(${columns.map(() => "?").join(", ")})`;
    const sql = `INSERT INTO ${table.name} (${columns.join(", ")}) VALUES ${rows.map(() => placeholders).join(", ")}`;
    yield* execute(sql, ...rows.flat());
  }
  return sum;
}

function* batches(rows: Iterable<SqlValue[]>): Generator<SqlValue[][]> {
  let batch: SqlValue[][] = [];
  let size = 0;
  for (const row of rows) {
    batch.push(row);
    size += row.reduce<number>((sum, value) => sum + String(value).length, 0);
    if (batch.length < maxBatchRows && size < maxBatchCharacters) continue;
    yield batch;
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

function* readBack({ name, order }: CopiedTable, columns: string[]): SqlProgram<TableChecksum> {
  const sum = new TableChecksum(hasMeaningfulOrder({ name, order }));
  const cursor = `copied_${name}`;
  const sql = `SELECT ${columns.join(", ")} FROM ${name} ORDER BY ${order}`;
  yield* execute(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`);
  for (;;) {
    const rows = yield* queryRows(`FETCH ${maxBatchRows} FROM ${cursor}`);
    for (const row of rows) sum.add(columns.map((column) => row[column] as SqlValue));
    if (rows.length === 0) break;
  }
  yield* execute(`CLOSE ${cursor}`);
  return sum;
}

function mismatchError(
  { name }: CopiedTable,
  expected: TableChecksum,
  found: TableChecksum,
): UserError {
  const rows = `${found.rows} of ${expected.rows} rows`;
  const what = expected.rows === found.rows ? "the content differs" : rows;
  return new UserError("state_unavailable", `${name} was not copied correctly: ${what}`, {
    hint: "Nothing was changed in either store. Try again, and report the problem if it persists.",
  });
}

/**
 * Sessions and logs are on the machine that made them. An embedded database does not record that
 * machine, but a shared one must.
 */
function withNodeId(
  table: string,
  columns: readonly string[],
  row: readonly SqlValue[],
  node: string,
): SqlValue[] {
  const recordIndex = columns.indexOf("record");
  const isOfNode = table === "sessions" || table === "jobs";
  if (recordIndex === -1 || !isOfNode) return [...row];
  const record: Record<string, unknown> = JSON.parse(String(row[recordIndex]));
  const hasRun = table === "sessions" || Number(record.attempts) > 0;
  if (!hasRun || typeof record.node === "string") return [...row];
  return row.with(recordIndex, JSON.stringify({ ...record, node }));
}

const modulus = 2n ** 256n;

/**
 * Checksum of a table: the number of rows, and the sum of the hashes of their values. For numbered
 * rows, the order counts, too.
 */
class TableChecksum {
  rows = 0;
  #sum = 0n;

  constructor(private readonly isNumbered: boolean) {}

  add(values: readonly SqlValue[]): void {
    const hashedValues = this.isNumbered ? [this.rows, ...values] : values;
    const digest = createHash("sha256").update(JSON.stringify(hashedValues)).digest("hex");
    this.#sum = (this.#sum + BigInt(`0x${digest}`)) % modulus;
    this.rows += 1;
  }

  get checksum(): string {
    return this.#sum.toString(16).padStart(64, "0");
  }

  equals(other: TableChecksum): boolean {
    return this.rows === other.rows && this.checksum === other.checksum;
  }
}
