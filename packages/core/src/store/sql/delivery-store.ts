import type {
  Delivery,
  DeliveryPage,
  DeliveryQuery,
  DeliveryWithBody,
  NewDelivery,
} from "@herdctl/protocol";
import { deliverySchema } from "@herdctl/protocol/schemas";
import { newDeliveryId } from "../model/ids.ts";
import { pageLimit, readCursor, writeCursor } from "./page.ts";
import {
  execute,
  queryRow,
  queryRows,
  readRecord,
  type SqlDatabase,
  type SqlProgram,
  type SqlRow,
  SqlStore,
  type SqlValue,
} from "./sql-program.ts";

export class DeliveryStore extends SqlStore {
  /**
   * With a known key, returns the first delivery with an increased count, and adds the job if it
   * had none.
   */
  async record(delivery: NewDelivery): Promise<Delivery> {
    return this.database.groupCommit(() => recordDelivery(this.database, delivery, this.clock()));
  }

  async get(id: string): Promise<DeliveryWithBody | undefined> {
    const sql = "SELECT id, record, body FROM deliveries WHERE id = ?";
    const row = await this.database.read(() => queryRow(sql, id));
    return row && { ...this.#parseRow(row), body: JSON.parse(String(row.body)) };
  }

  /** Newest first, at most a few: ids that start with the prefix, or whose random part does. */
  async findByPrefix(prefix: string): Promise<Delivery[]> {
    const afterDate = "delivery-2000-01-01-".length + 1;
    const sql = `SELECT id, record FROM deliveries
                 WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, ${afterDate}, length(?1)) = ?1
                 ORDER BY seq DESC LIMIT 10`;
    const rows = await this.database.read(() => queryRows(sql, prefix));
    return rows.map((row) => this.#parseRow(row));
  }

  /** Newest first. */
  async list(query: DeliveryQuery): Promise<DeliveryPage> {
    const { agent, cursor } = query;
    const limit = pageLimit(query);
    const [before = maxSeq] = cursor === undefined ? [] : readCursor(cursor, "integer");
    const conditions: [sql: string, value: SqlValue][] = [["seq < ?", before]];
    if (agent !== undefined) conditions.push(["agent = ?", agent]);
    const where = conditions.map(([sql]) => sql).join(" AND ");
    const sql = `SELECT seq, id, record FROM deliveries WHERE ${where} ORDER BY seq DESC LIMIT ?`;
    const values = conditions.map(([, value]) => value);
    const rows = await this.database.read(() => queryRows(sql, ...values, limit + 1));
    const page = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? writeCursor(Number(page.at(-1)?.seq)) : null;
    return { deliveries: page.map((row) => this.#parseRow(row)), next_cursor: nextCursor };
  }

  /** Deletes deliveries that need not be kept, some at a time. Resolves with their number. */
  async prune({ receivedBefore, keep, limit }: DeliveryRetention): Promise<number> {
    const sql = `DELETE FROM deliveries WHERE seq IN (
                   SELECT seq FROM deliveries WHERE received_at < ?1
                     OR seq <= (SELECT seq FROM deliveries ORDER BY seq DESC LIMIT 1 OFFSET ?2)
                   ORDER BY seq LIMIT ?3)`;
    const values = [receivedBefore.toISOString(), keep, limit];
    return this.database.transaction(() => execute(sql, ...values));
  }

  #parseRow(row: SqlRow): Delivery {
    return readDelivery(this.database, row);
  }
}

const maxSeq = Number.MAX_SAFE_INTEGER;

/**
 * Runs within a transaction. With a known key, returns the first delivery with an increased count.
 */
export function* recordDelivery(
  database: SqlDatabase,
  { body, ...newDelivery }: NewDelivery,
  now: Date,
): SqlProgram<Delivery> {
  const row = yield* queryRow(
    "SELECT id, record FROM deliveries WHERE dedup_key = ?",
    newDelivery.dedup_key,
  );
  if (row) return yield* recordRedelivery(readDelivery(database, row), newDelivery);
  const delivery = deliverySchema.parse({
    ...newDelivery,
    id: newDeliveryId(now),
    received_at: now.toISOString(),
    redeliveries: 0,
  });
  const sql = "INSERT INTO deliveries (id, record, body) VALUES (?, ?, ?)";
  yield* execute(sql, delivery.id, JSON.stringify(delivery), JSON.stringify(body));
  return delivery;
}

function readDelivery(database: SqlDatabase, row: SqlRow): Delivery {
  return readRecord(database, deliverySchema, row);
}

/**
 * A delivery that was unwanted at first may be accepted later; a job that it led to stays its job.
 */
function* recordRedelivery(
  first: Delivery,
  newDelivery: Omit<NewDelivery, "body">,
): SqlProgram<Delivery> {
  const isNewlyAccepted = first.job_id === null && newDelivery.job_id !== null;
  const { status, reason, job_id } = isNewlyAccepted ? newDelivery : first;
  const redeliveries = first.redeliveries + 1;
  const delivery = { ...first, status, reason, job_id, redeliveries };
  const sql = "UPDATE deliveries SET record = ? WHERE id = ?";
  yield* execute(sql, JSON.stringify(delivery), delivery.id);
  return delivery;
}

interface DeliveryRetention {
  receivedBefore: Date;
  /** Maximum number of deliveries to keep, newest first. */
  keep: number;
  /** Maximum number of deliveries to delete per call. */
  limit: number;
}
