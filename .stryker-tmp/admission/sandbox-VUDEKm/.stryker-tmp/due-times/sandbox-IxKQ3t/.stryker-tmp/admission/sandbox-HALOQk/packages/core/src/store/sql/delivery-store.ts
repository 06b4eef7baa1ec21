import type {
  Delivery,
  DeliveryPage,
  DeliveryQuery,
  DeliveryWithBody,
  NewDelivery,
} from "@herdctl/protocol";
import type { DeliveryRetention, DeliveryStore } from "../contracts/stores.ts";
import { readDelivery, recordDelivery } from "./delivery-records.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRow, queryRows, type SqlRow, type SqlValue } from "./sql-program.ts";

export class SqlDeliveryStore implements DeliveryStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async record(delivery: NewDelivery): Promise<Delivery> {
    return this.#database.groupCommit(() =>
      recordDelivery(this.#database, delivery, this.#clock()),
    );
  }

  async get(id: string): Promise<DeliveryWithBody | undefined> {
    const sql = "SELECT id, record, body FROM deliveries WHERE id = ?";
    const row = await this.#database.read(() => queryRow(sql, id));
    return row && { ...this.#parseRow(row), body: JSON.parse(String(row.body)) };
  }

  async findByPrefix(prefix: string): Promise<Delivery[]> {
    const afterDate = "delivery-2000-01-01-".length + 1;
    const sql = `SELECT id, record FROM deliveries
                 WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, ${afterDate}, length(?1)) = ?1
                 ORDER BY seq DESC LIMIT 10`;
    const rows = await this.#database.read(() => queryRows(sql, prefix));
    return rows.map((row) => this.#parseRow(row));
  }

  async list({ agent, limit, cursor }: DeliveryQuery): Promise<DeliveryPage> {
    const conditions: [sql: string, value: SqlValue][] = [["seq < ?", cursor ?? maxSeq]];
    if (agent !== undefined) conditions.push(["agent = ?", agent]);
    const where = conditions.map(([sql]) => sql).join(" AND ");
    const sql = `SELECT seq, id, record FROM deliveries WHERE ${where} ORDER BY seq DESC LIMIT ?`;
    const values = conditions.map(([, value]) => value);
    const rows = await this.#database.read(() => queryRows(sql, ...values, limit + 1));
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? Number(page.at(-1)?.seq) : null;
    return { deliveries: page.map((row) => this.#parseRow(row)), next };
  }

  async prune({ receivedBefore, keep, limit }: DeliveryRetention): Promise<number> {
    const sql = `DELETE FROM deliveries WHERE seq IN (
                   SELECT seq FROM deliveries WHERE received_at < ?1
                     OR seq <= (SELECT seq FROM deliveries ORDER BY seq DESC LIMIT 1 OFFSET ?2)
                   ORDER BY seq LIMIT ?3)`;
    const values = [receivedBefore.toISOString(), keep, limit];
    return this.#database.transaction(() => execute(sql, ...values));
  }

  #parseRow(row: SqlRow): Delivery {
    return readDelivery(this.#database, row);
  }
}

const maxSeq = Number.MAX_SAFE_INTEGER;
