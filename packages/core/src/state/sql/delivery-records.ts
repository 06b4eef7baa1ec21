import { type Delivery, deliverySchema, type NewDelivery } from "../delivery.ts";
import { newDeliveryId } from "../names.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { one, type Row, run, type Steps } from "./steps.ts";

/** Within a transaction. With a key seen before: the first one, counted once more. */
export function* recordDelivery(
  database: SqlDatabase,
  { body, ...given }: NewDelivery,
  now: Date,
): Steps<Delivery> {
  const row = yield* one("SELECT id, record FROM deliveries WHERE key = ?", given.key);
  if (row) return yield* recordAgain(readDelivery(database, row), given);
  const delivery = deliverySchema.parse({
    ...given,
    id: newDeliveryId(now),
    received_at: now.toISOString(),
    redeliveries: 0,
  });
  const sql = "INSERT INTO deliveries (id, record, body) VALUES (?, ?, ?)";
  yield* run(sql, delivery.id, JSON.stringify(delivery), JSON.stringify(body));
  return delivery;
}

export function readDelivery(database: SqlDatabase, row: Row): Delivery {
  return readRecord(database, deliverySchema, row);
}

/** What was not wanted at first may be by now; a job that it led to stays its job. */
function* recordAgain(first: Delivery, given: Omit<NewDelivery, "body">): Steps<Delivery> {
  const isFirst = first.job_id === null && given.job_id !== null;
  const { verdict, reason, job_id } = isFirst ? given : first;
  const redeliveries = first.redeliveries + 1;
  const delivery = { ...first, verdict, reason, job_id, redeliveries };
  const sql = "UPDATE deliveries SET record = ? WHERE id = ?";
  yield* run(sql, JSON.stringify(delivery), delivery.id);
  return delivery;
}
