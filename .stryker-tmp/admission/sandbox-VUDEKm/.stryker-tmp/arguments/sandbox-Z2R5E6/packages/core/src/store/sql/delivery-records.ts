import type { Delivery, NewDelivery } from "@herdctl/protocol";
import { deliverySchema } from "@herdctl/protocol/schemas";
import { newDeliveryId } from "../model/ids.ts";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRow, type SqlProgram, type SqlRow } from "./sql-program.ts";

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

export function readDelivery(database: SqlDatabase, row: SqlRow): Delivery {
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
