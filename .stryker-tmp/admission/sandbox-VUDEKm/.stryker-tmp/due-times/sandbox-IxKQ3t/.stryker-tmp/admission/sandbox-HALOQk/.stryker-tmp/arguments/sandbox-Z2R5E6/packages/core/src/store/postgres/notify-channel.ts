import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import type { ConnectionPool } from "./connection-pool.ts";
import type { PostgresDatabase } from "./database.ts";
import { decodeText, encodeText } from "./encode-json.ts";

const channelName = "herdctl_news";
/** PostgreSQL accepts less than 8,000 bytes. */
const maxPayloadBytes = 7_900;
/**
 * Maximum number of notifications that wait while the database is unavailable; older ones are
 * dropped.
 */
const maxQueued = 5_000;
const retryDelayMs = 500;
/** How often an idle connection is checked, because it may be half open. */
const pingIntervalMs = 5_000;

/** Short notifications to all nodes, without guaranteed delivery: the records are the truth. */
export class NotifyChannel {
  #queue: string[] = [];
  #sending: Promise<void> | undefined;
  #listeners = new Set<ListenConnection>();
  #closed = false;

  constructor(
    private readonly connections: ConnectionPool,
    private readonly database: PostgresDatabase,
  ) {}

  notify(text: string): void {
    const encoded = encodeText(text);
    if (this.#closed || Buffer.byteLength(encoded) > maxPayloadBytes) return;
    if (this.#queue.length >= maxQueued) this.#queue.shift();
    this.#queue.push(encoded);
    this.#sending ??= this.#sendQueued();
  }

  async listen(
    onMessage: (text: string) => void,
    onMissed: () => void,
  ): Promise<() => Promise<void>> {
    const listener = new ListenConnection(() => this.connections.newClient(), onMessage, onMissed);
    this.#listeners.add(listener);
    await listener.start();
    return async () => {
      this.#listeners.delete(listener);
      await listener.stop();
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#listeners].map((listener) => listener.stop()));
    await this.#sending;
  }

  async #sendQueued(): Promise<void> {
    await new Promise((next) => setImmediate(next));
    while (this.#queue.length > 0) {
      const texts = this.#queue.splice(0);
      const sql = `SELECT pg_notify('${channelName}', text) FROM unnest($1::text[]) AS text`;
      try {
        await this.database.execute(sql, [texts]);
      } catch {
        if (this.#closed) break;
        this.#queue = [...texts, ...this.#queue].slice(-maxQueued);
        await delay(retryDelayMs);
      }
    }
    this.#sending = undefined;
  }
}

/** A connection that only listens, and is opened again when it breaks. */
class ListenConnection {
  readonly #abortController = new AbortController();
  #keepingConnected: Promise<void> | undefined;

  constructor(
    private readonly newClient: () => Client,
    private readonly onMessage: (text: string) => void,
    private readonly onMissed: () => void,
  ) {}

  /** Resolves when it listens, or when that is not possible for now. */
  async start(): Promise<void> {
    const first = await this.#connect().catch(() => undefined);
    this.#keepingConnected = this.#keepConnected(first);
  }

  async stop(): Promise<void> {
    this.#abortController.abort();
    await this.#keepingConnected;
  }

  async #keepConnected(first: Client | undefined): Promise<void> {
    const { signal } = this.#abortController;
    let client = first;
    while (!signal.aborted) {
      if (client) await this.#waitUntilBroken(client);
      if (client) await client.end().catch(() => undefined);
      if (signal.aborted) return;
      await delay(retryDelayMs, undefined, { signal }).catch(() => undefined);
      client = signal.aborted ? undefined : await this.#connect().catch(() => undefined);
      if (client) this.onMissed();
    }
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<Client> {
    const client = this.newClient();
    client.on("error", () => undefined);
    client.on("notification", ({ payload }) => this.onMessage(decodeText(payload ?? "")));
    try {
      await client.connect();
      await client.query(`LISTEN ${channelName}`);
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Resolves when the connection is broken, or no longer needed. */
  async #waitUntilBroken(client: Client): Promise<void> {
    const { signal } = this.#abortController;
    const broken = new AbortController();
    client.once("end", () => broken.abort());
    client.once("error", () => broken.abort());
    const either = AbortSignal.any([signal, broken.signal]);
    while (!either.aborted) {
      await delay(pingIntervalMs, undefined, { signal: either }).catch(() => undefined);
      if (either.aborted) return;
      await client.query("SELECT 1").catch(() => broken.abort());
    }
  }
}
