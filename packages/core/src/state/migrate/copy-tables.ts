import { UserError } from "../../errors/user-error.ts";
import { all, one, run, type Steps, type Value } from "../sql/steps.ts";
import type { EmbeddedSource } from "./embedded-source.ts";
import { stamped } from "./stamp.ts";
import { TableSum } from "./table-sum.ts";
import { type CopiedTable, copiedTables, isNumbered } from "./tables.ts";

export interface CopyFacts {
  source: EmbeddedSource;
  /** The node of the state that is copied: its sessions live there. */
  node: string;
  onTable?(table: CopiedTableResult): void;
}

export interface CopiedTableResult {
  table: string;
  rows: number;
  checksum: string;
}

/** All of it in the transaction that this is run in, and read back before that is kept. */
export function* copyTables(facts: CopyFacts): Steps<CopiedTableResult[]> {
  yield* refuseUnlessEmpty();
  const copied: CopiedTableResult[] = [];
  for (const table of copiedTables) {
    // A job that comes over with its end is no news: what is open is copied as it is.
    if (table.name === "endings") yield* run("DELETE FROM endings");
    const wanted = yield* copyRows(table, facts);
    const found = yield* readBack(table, facts.source.columns(table));
    if (!wanted.equals(found)) throw unlike(table, wanted, found);
    const result = { table: table.name, rows: found.rows, checksum: found.checksum };
    facts.onTable?.(result);
    copied.push(result);
  }
  return copied;
}

function* refuseUnlessEmpty(): Steps<void> {
  const found = yield* one("SELECT count(*) AS count FROM nodes WHERE status = 'live'");
  if (Number(found?.count) > 0) {
    throw inTheWay("nodes run on it", "Stop the fleet that uses it, or name another database.");
  }
  for (const { name } of copiedTables) {
    if ((yield* one(`SELECT 1 AS found FROM ${name} LIMIT 1`)) === undefined) continue;
    const hint =
      "Name a new database, or drop the schema `herdctl` in this one if nobody needs it.";
    throw inTheWay(`it holds ${name} already`, hint);
  }
}

function inTheWay(message: string, hint: string): UserError {
  return new UserError("store_refused", `the shared store is not empty: ${message}`, { hint });
}

const mostRows = 100;
const mostCharacters = 1_000_000;

function* copyRows(table: CopiedTable, { source, node }: CopyFacts): Steps<TableSum> {
  const columns = source.columns(table);
  const sum = new TableSum(isNumbered(table));
  for (const batch of batches(source.rows(table))) {
    const rows = batch.map((row) => stamped(table.name, columns, row, node));
    for (const row of rows) sum.add(row);
    const places = `(${columns.map(() => "?").join(", ")})`;
    const sql = `INSERT INTO ${table.name} (${columns.join(", ")}) VALUES ${rows.map(() => places).join(", ")}`;
    yield* run(sql, ...rows.flat());
  }
  return sum;
}

function* batches(rows: Iterable<Value[]>): Generator<Value[][]> {
  let batch: Value[][] = [];
  let size = 0;
  for (const row of rows) {
    batch.push(row);
    size += row.reduce<number>((sum, value) => sum + String(value).length, 0);
    if (batch.length < mostRows && size < mostCharacters) continue;
    yield batch;
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

function* readBack({ name, order }: CopiedTable, columns: string[]): Steps<TableSum> {
  const sum = new TableSum(isNumbered({ name, order }));
  const cursor = `copied_${name}`;
  const sql = `SELECT ${columns.join(", ")} FROM ${name} ORDER BY ${order}`;
  yield* run(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`);
  for (;;) {
    const rows = yield* all(`FETCH ${mostRows} FROM ${cursor}`);
    for (const row of rows) sum.add(columns.map((column) => row[column] as Value));
    if (rows.length === 0) break;
  }
  yield* run(`CLOSE ${cursor}`);
  return sum;
}

function unlike({ name }: CopiedTable, wanted: TableSum, found: TableSum): UserError {
  const rows = `${found.rows} of ${wanted.rows} rows`;
  const what = wanted.rows === found.rows ? "their content differs" : rows;
  return new UserError("state_unavailable", `${name} did not arrive as it was sent: ${what}`, {
    hint: "Nothing was changed, here or there. Try again; if it stays so, please report it.",
  });
}
