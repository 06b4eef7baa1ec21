import { createHash } from "node:crypto";
import type { AuditEntry, NewPushSubscription, PushSubscriptionRecord } from "@herdctl/protocol";
import { type PushKeys, pushKeysSchema, pushSubscriptionSchema } from "@herdctl/protocol/schemas";
import { appendAudit } from "./audit-store.ts";
import {
  execute,
  queryRow,
  queryRows,
  readRecord,
  type SqlProgram,
  SqlStore,
  type SqlValue,
} from "./sql-program.ts";

/** Of one login or token. The oldest subscription makes room. */
const maxSubscriptionsPerOwner = 20;

/** Browsers that get notifications of questions, and the keys of the fleet for their push services. */
export class PushStore extends SqlStore {
  /** Stores these keys if there are none yet; returns the stored ones. */
  async ensureKeys(generate: () => PushKeys): Promise<PushKeys> {
    return this.database.transaction(() => this.#ensureKeysInTransaction(generate));
  }

  /** Oldest first. */
  async list(): Promise<PushSubscriptionRecord[]> {
    return this.database.read(() => this.#select("ORDER BY seq"));
  }

  async get(id: string): Promise<PushSubscriptionRecord | undefined> {
    const [found] = await this.database.read(() => this.#select("WHERE id = ?", id));
    return found;
  }

  /** A browser has one subscription: the latest one replaces earlier ones with the same endpoint. */
  async add(
    subscription: NewPushSubscription,
    owner: string,
    audit: AuditEntry,
  ): Promise<PushSubscriptionRecord> {
    const now = this.clock();
    const record = pushSubscriptionSchema.parse({
      ...subscription,
      id: subscriptionId(subscription.endpoint),
      created_at: now.toISOString(),
      created_by: owner,
    });
    return this.database.transaction(() => this.#addInTransaction(record, audit, now));
  }

  /** False if it was removed before. */
  async remove(id: string, audit?: AuditEntry): Promise<boolean> {
    const now = this.clock();
    return this.database.transaction(() => this.#removeInTransaction(id, audit, now));
  }

  *#ensureKeysInTransaction(generate: () => PushKeys): SqlProgram<PushKeys> {
    const row = yield* queryRow("SELECT id, record FROM push_keys WHERE id = 1");
    if (row) return readRecord(this.database, pushKeysSchema, row);
    const keys = pushKeysSchema.parse(generate());
    yield* execute("INSERT INTO push_keys (id, record) VALUES (1, ?)", JSON.stringify(keys));
    return keys;
  }

  *#addInTransaction(
    record: PushSubscriptionRecord,
    audit: AuditEntry,
    now: Date,
  ): SqlProgram<PushSubscriptionRecord> {
    const all = yield* this.#select("ORDER BY seq");
    const same = all.find(({ id }) => id === record.id);
    const { created_at, ...content } = record;
    if (same && hasContent(same, content)) return same;
    const own = all.filter(
      ({ id, created_by }) => created_by === record.created_by && id !== record.id,
    );
    const surplus = own.slice(0, Math.max(0, own.length - maxSubscriptionsPerOwner + 1));
    for (const { id } of same ? [same, ...surplus] : surplus)
      yield* execute("DELETE FROM push_subscriptions WHERE id = ?", id);
    const sql = "INSERT INTO push_subscriptions (id, record) VALUES (?, ?)";
    yield* execute(sql, record.id, JSON.stringify(record));
    yield* appendAudit(this.database, { ...audit, target: record.id }, now);
    return record;
  }

  *#removeInTransaction(id: string, audit: AuditEntry | undefined, now: Date): SqlProgram<boolean> {
    const isRemoved = (yield* execute("DELETE FROM push_subscriptions WHERE id = ?", id)) > 0;
    if (isRemoved && audit) yield* appendAudit(this.database, audit, now);
    return isRemoved;
  }

  *#select(clause: string, ...values: SqlValue[]): SqlProgram<PushSubscriptionRecord[]> {
    const rows = yield* queryRows(`SELECT id, record FROM push_subscriptions ${clause}`, ...values);
    return rows.map((row) => readRecord(this.database, pushSubscriptionSchema, row));
  }
}

function hasContent(
  { created_at: _, ...stored }: PushSubscriptionRecord,
  content: Omit<PushSubscriptionRecord, "created_at">,
): boolean {
  const text = (record: typeof content) =>
    JSON.stringify([record.endpoint, record.keys.p256dh, record.keys.auth, record.created_by]);
  return text(stored) === text(content);
}

/** The endpoint is a secret address, so records of sent notifications contain only its hash. */
function subscriptionId(endpoint: string): string {
  return `push-${createHash("sha256").update(endpoint).digest("hex").slice(0, 20)}`;
}
