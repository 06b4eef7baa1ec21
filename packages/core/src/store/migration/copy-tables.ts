import { createHash } from "node:crypto";
import { UserError } from "@herdctl/protocol";
import {
  execute,
  queryRow,
  queryRows,
  type SqlProgram,
  type SqlValue,
} from "../sql/sql-program.ts";
import { type DatabaseSync, openSqlite } from "../sqlite/driver.ts";
import { openForReading } from "../sqlite/open.ts";

interface CopyOptions {
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
    // The ends of copied jobs are not new; those that hooks have not seen are copied.
    if (table.name === "job_end_outbox") yield* execute("DELETE FROM job_end_outbox");
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
  private sum = 0n;

  constructor(private readonly isNumbered: boolean) {}

  add(values: readonly SqlValue[]): void {
    const hashedValues = this.isNumbered ? [this.rows, ...values] : values;
    const digest = createHash("sha256").update(JSON.stringify(hashedValues)).digest("hex");
    this.sum = (this.sum + BigInt(`0x${digest}`)) % modulus;
    this.rows += 1;
  }

  get checksum(): string {
    return this.sum.toString(16).padStart(64, "0");
  }

  equals(other: TableChecksum): boolean {
    return this.rows === other.rows && this.checksum === other.checksum;
  }
}

/** A table that is copied from the embedded database to the shared one. */
interface CopiedTable {
  name: string;
  /**
   * Sort order of the rows. Numbers that the database generates are assigned again in this order.
   */
  order: string;
}

/**
 * Referenced tables come first. Due times come before one-shot runs, because inserting a due time
 * deletes its one-shot run. `session_leases` is skipped: the processes that held them are gone. The
 * search index is skipped: the fleet builds it again.
 */
export const copiedTables: readonly CopiedTable[] = [
  { name: "jobs", order: "seq" },
  { name: "attempts", order: "job_id, number" },
  { name: "job_end_outbox", order: "seq" },
  { name: "job_notices", order: "seq" },
  { name: "sessions", order: "rowid" },
  { name: "approvals", order: "seq" },
  { name: "schedule_switches", order: "agent, schedule" },
  { name: "schedules", order: "agent, schedule" },
  { name: "due_times", order: "agent, schedule, due_at" },
  { name: "planned_runs", order: "agent, schedule" },
  { name: "schedule_intervals", order: "agent, schedule" },
  { name: "budget_raises", order: "day, agent" },
  { name: "pauses", order: "rowid" },
  { name: "day_costs", order: "day, agent, schedule, model" },
  { name: "deliveries", order: "seq" },
  { name: "hook_runs", order: "seq" },
  { name: "work_claims", order: "seq" },
  { name: "chat_links", order: "agent, platform" },
  { name: "conversations", order: "id" },
  { name: "chat_messages", order: "seq" },
  { name: "chat_posts", order: "rowid" },
  { name: "access_tokens", order: "name" },
  { name: "logins", order: "id" },
  { name: "permission_rules", order: "seq" },
  { name: "push_subscriptions", order: "seq" },
  { name: "push_keys", order: "id" },
  { name: "audit_log", order: "number" },
  { name: "audit_head", order: "id" },
];

const skippedTables: readonly string[] = ["session_leases", "job_texts"];

/** Whether the order of the rows has a meaning beyond their content. */
function hasMeaningfulOrder({ order }: CopiedTable): boolean {
  return order === "seq" || order === "rowid";
}

/** Reads the embedded database row by row, without changing it. */
export class SqliteSource {
  private readonly connection: DatabaseSync;

  constructor(file: string) {
    // Gives a readable error if the database is damaged or of another version.
    openForReading(file).close();
    this.connection = openSqlite(file, { readOnly: true });
    const unknownTables = this.tableNames().filter((name) => !isKnownTable(name));
    if (unknownTables.length > 0)
      throw new Error(`no copy rule for the tables ${unknownTables.join(", ")}`);
  }

  /** Stored columns, without those that are derived or numbered by the database. */
  columns({ name }: CopiedTable): string[] {
    const names = this.selectStrings(
      "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0",
      name,
    );
    return names.filter((column) => column !== "seq");
  }

  *rows({ name, order }: CopiedTable): Generator<SqlValue[]> {
    const columns = this.columns({ name, order });
    const sql = `SELECT ${columns.join(", ")} FROM ${name} ORDER BY ${order}`;
    for (const row of this.connection.prepare(sql).iterate()) {
      yield columns.map((column) => readValue(row, column));
    }
  }

  /** Jobs whose runner may still be running. */
  runningJobIds(): string[] {
    return this.selectStrings("SELECT id FROM jobs WHERE status = 'running' ORDER BY seq");
  }

  close(): void {
    this.connection.close();
  }

  private tableNames(): string[] {
    // Leaves out the search index, which the next fleet fills again.
    const sql = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'";
    return this.selectStrings(`${sql} AND name NOT LIKE 'sqlite_%'`);
  }

  /** The first column of each row. */
  private selectStrings(sql: string, ...values: SqlValue[]): string[] {
    const rows = this.connection.prepare(sql).all(...values);
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
