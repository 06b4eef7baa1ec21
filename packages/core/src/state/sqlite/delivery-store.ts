import type { DeliveryPage, DeliveryQuery, DeliveryRetention, DeliveryStore } from "../contract.ts";
import {
  type Delivery,
  type DeliveryWithBody,
  deliverySchema,
  type NewDelivery,
} from "../delivery.ts";
import { newDeliveryId } from "../names.ts";
import type { Database, Row, Value } from "./database.ts";
import { readRecord } from "./record.ts";

export class SqliteDeliveryStore implements DeliveryStore {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async record({ body, ...given }: NewDelivery): Promise<Delivery> {
    return this.#database.transaction(() => {
      const first = this.#findByKey(given.key);
      return first ? this.#again(first, given) : this.#insert(given, body);
    });
  }

  async get(id: string): Promise<DeliveryWithBody | undefined> {
    const row = this.#database.get("SELECT id, record, body FROM deliveries WHERE id = ?", id);
    return row && { ...this.#read(row), body: JSON.parse(String(row.body)) };
  }

  async findByPrefix(prefix: string): Promise<Delivery[]> {
    const afterDate = "delivery-2000-01-01-".length + 1;
    const sql = `SELECT id, record FROM deliveries
                 WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, ${afterDate}, length(?1)) = ?1
                 ORDER BY seq DESC LIMIT 10`;
    return this.#database.all(sql, prefix).map((row) => this.#read(row));
  }

  async list({ agent, limit, cursor }: DeliveryQuery): Promise<DeliveryPage> {
    const conditions: [sql: string, value: Value][] = [["seq < ?", cursor ?? lastSeq]];
    if (agent !== undefined) conditions.push(["agent = ?", agent]);
    const where = conditions.map(([sql]) => sql).join(" AND ");
    const rows = this.#database.all(
      `SELECT seq, id, record FROM deliveries WHERE ${where} ORDER BY seq DESC LIMIT ?`,
      ...conditions.map(([, value]) => value),
      limit + 1,
    );
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? Number(page.at(-1)?.seq) : null;
    return { deliveries: page.map((row) => this.#read(row)), next };
  }

  async prune({ receivedBefore, keep, limit }: DeliveryRetention): Promise<number> {
    const sql = `DELETE FROM deliveries WHERE seq IN (
                   SELECT seq FROM deliveries WHERE received_at < ?1
                     OR seq <= (SELECT seq FROM deliveries ORDER BY seq DESC LIMIT 1 OFFSET ?2)
                   ORDER BY seq LIMIT ?3)`;
    const values = [receivedBefore.toISOString(), keep, limit];
    return this.#database.transaction(() => this.#database.run(sql, ...values));
  }

  #insert(given: Omit<NewDelivery, "body">, body: string): Delivery {
    const now = this.#clock();
    const delivery = deliverySchema.parse({
      ...given,
      id: newDeliveryId(now),
      received_at: now.toISOString(),
      redeliveries: 0,
    });
    const sql = "INSERT INTO deliveries (id, record, body) VALUES (?, ?, ?)";
    this.#database.run(sql, delivery.id, JSON.stringify(delivery), JSON.stringify(body));
    return delivery;
  }

  /** What was not wanted at first may be by now; a job that it led to stays its job. */
  #again(first: Delivery, given: Omit<NewDelivery, "body">): Delivery {
    const isFirst = first.job_id === null && given.job_id !== null;
    const { verdict, reason, job_id } = isFirst ? given : first;
    const redeliveries = first.redeliveries + 1;
    const delivery = { ...first, verdict, reason, job_id, redeliveries };
    const sql = "UPDATE deliveries SET record = ? WHERE id = ?";
    this.#database.run(sql, JSON.stringify(delivery), delivery.id);
    return delivery;
  }

  #findByKey(key: string): Delivery | undefined {
    const row = this.#database.get("SELECT id, record FROM deliveries WHERE key = ?", key);
    return row && this.#read(row);
  }

  #read(row: Row): Delivery {
    return readRecord(this.#database, deliverySchema, row);
  }
}

const lastSeq = Number.MAX_SAFE_INTEGER;
