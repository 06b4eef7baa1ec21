import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import type { Connections } from "./connections.ts";
import type { PostgresDatabase } from "./database.ts";
import { decodeText, encodeText } from "./encode-json.ts";

const channel = "herdctl_news";
/** PostgreSQL takes less than 8,000 bytes. */
const mostBytes = 7_900;
/** What waits while the database is away; what is older was missed by everybody anyhow. */
const mostWaiting = 5_000;
const tryEvery = 500;
/** So often a line on which nobody speaks is looked at: it may be half open. */
const lookEvery = 5_000;

/** Short news for all nodes, without a promise that they arrive: the records are the truth. */
export class News {
  #waiting: string[] = [];
  #sending: Promise<void> | undefined;
  #lines = new Set<Line>();
  #closed = false;

  constructor(
    private readonly connections: Connections,
    private readonly database: PostgresDatabase,
  ) {}

  notify(text: string): void {
    const encoded = encodeText(text);
    if (this.#closed || Buffer.byteLength(encoded) > mostBytes) return;
    if (this.#waiting.length >= mostWaiting) this.#waiting.shift();
    this.#waiting.push(encoded);
    this.#sending ??= this.#send();
  }

  async listen(heard: (text: string) => void, missed: () => void): Promise<() => Promise<void>> {
    const line = new Line(() => this.connections.newClient(), heard, missed);
    this.#lines.add(line);
    await line.start();
    return async () => {
      this.#lines.delete(line);
      await line.stop();
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#lines].map((line) => line.stop()));
    await this.#sending;
  }

  async #send(): Promise<void> {
    await new Promise((next) => setImmediate(next));
    while (this.#waiting.length > 0) {
      const texts = this.#waiting.splice(0);
      const sql = `SELECT pg_notify('${channel}', text) FROM unnest($1::text[]) AS text`;
      try {
        await this.database.execute(sql, [texts]);
      } catch {
        if (this.#closed) break;
        this.#waiting = [...texts, ...this.#waiting].slice(-mostWaiting);
        await delay(tryEvery);
      }
    }
    this.#sending = undefined;
  }
}

/** A connection that only listens, and is made anew when it breaks. */
class Line {
  readonly #over = new AbortController();
  #kept: Promise<void> | undefined;

  constructor(
    private readonly newClient: () => Client,
    private readonly heard: (text: string) => void,
    private readonly missed: () => void,
  ) {}

  /** Resolves when it listens, or is known to be unable to for now. */
  async start(): Promise<void> {
    const first = await this.#connect().catch(() => undefined);
    this.#kept = this.#keep(first);
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#kept;
  }

  async #keep(first: Client | undefined): Promise<void> {
    const { signal } = this.#over;
    let client = first;
    while (!signal.aborted) {
      if (client) await this.#whileWell(client);
      if (client) await client.end().catch(() => undefined);
      if (signal.aborted) return;
      await delay(tryEvery, undefined, { signal }).catch(() => undefined);
      client = signal.aborted ? undefined : await this.#connect().catch(() => undefined);
      if (client) this.missed();
    }
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<Client> {
    const client = this.newClient();
    client.on("error", () => undefined);
    client.on("notification", ({ payload }) => this.heard(decodeText(payload ?? "")));
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Resolves when it is broken, or no longer wanted. */
  async #whileWell(client: Client): Promise<void> {
    const { signal } = this.#over;
    const broken = new AbortController();
    client.once("end", () => broken.abort());
    client.once("error", () => broken.abort());
    const either = AbortSignal.any([signal, broken.signal]);
    while (!either.aborted) {
      await delay(lookEvery, undefined, { signal: either }).catch(() => undefined);
      if (either.aborted) return;
      await client.query("SELECT 1").catch(() => broken.abort());
    }
  }
}
