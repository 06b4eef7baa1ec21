import { Socket } from "node:net";
import type { Client, ClientBase, ClientConfig, CustomTypesConfig, Pool, PoolClient } from "pg";
import type { StoreAddress } from "./address.ts";

type Pg = Pick<typeof import("pg"), "Client" | "Pool" | "types">;

/** How long a statement may take on the server, which then gives it up itself. */
const statementTimeout = 5_000;
/** After that nobody is there: the line is half open, and the connection is thrown away. */
const answerTimeout = 6_500;
const connectTimeout = 3_000;
/**
 * Shorter than a statement's: whoever stands still with the lock of writers in hand, because it is
 * frozen or cut off, is put out before those who wait behind it give up.
 */
const standstillTimeout = 3_500;

/** By the server too, which else keeps a place for a client behind a dead line for hours. */
export const foundOutSoon = `
    SET tcp_keepalives_idle TO 10;
    SET tcp_keepalives_interval TO 5;
    SET tcp_keepalives_count TO 3`;

/** So many read at once, one writes, and some have short words. */
export const readers = 4;
export const aside = 2;

/**
 * Connections to one database, thrown away together when one of them turns out dead: the others
 * went through the same network to the same server.
 */
export class Connections {
  #pool: Pool | undefined;
  #closing: Promise<unknown>[] = [];
  readonly #sockets = new Set<Socket>();
  #closed = false;

  constructor(
    readonly address: StoreAddress,
    private readonly pg: Pg,
  ) {}

  get isClosed(): boolean {
    return this.#closed;
  }

  async take(): Promise<PoolClient> {
    if (this.#closed) throw new Error("Connection terminated: the store is closed");
    this.#pool ??= this.#newPool();
    const client = await this.#pool.connect();
    // What breaks while it is ours is said to the query that it breaks.
    client.on("error", ignore);
    return client;
  }

  giveBack(client: PoolClient, isBroken = false): void {
    client.removeListener("error", ignore);
    client.release(isBroken);
    if (isBroken) this.#drop();
  }

  /** For what listens: a connection outside the pool, with the same habits. */
  newClient(): Client {
    return new this.pg.Client(this.#config());
  }

  /** For what may take long, such as bringing a large store up to date. */
  async patientClient(): Promise<Client> {
    const client = new this.pg.Client({ ...this.#config(), query_timeout: undefined });
    client.on("error", ignore);
    await client.connect();
    await prepare(client);
    return client;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#drop();
    const cut = setTimeout(() => this.#cut(), 1_000);
    await Promise.all(this.#closing);
    clearTimeout(cut);
    this.#cut();
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #drop(): void {
    const pool = this.#pool;
    this.#pool = undefined;
    if (!pool) return;
    const ended = pool.end().catch(ignore);
    this.#closing.push(ended);
    ended.then(() => {
      this.#closing = this.#closing.filter((one) => one !== ended);
    });
  }

  #newPool(): Pool {
    const pool = new this.pg.Pool({
      ...this.#config(),
      max: readers + 1 + aside,
      onConnect: prepare,
    });
    pool.on("error", ignore);
    return pool;
  }

  #config(): ClientConfig {
    return {
      connectionString: this.address.connectionString,
      application_name: "herdctl",
      connectionTimeoutMillis: connectTimeout,
      query_timeout: answerTimeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      types: numbersOf(this.pg),
      stream: () => this.#newSocket(),
    };
  }

  /** A socket that nobody answers on is closed only by force. */
  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }
}

/**
 * Set by statements and not when connecting, since connection poolers refuse what they do not know.
 * Plans are made for the values at hand: a table that was empty when a statement was prepared may
 * have a million rows by now.
 */
async function prepare(client: ClientBase): Promise<void> {
  await client.query(`
    SET search_path TO herdctl;
    SET statement_timeout TO ${statementTimeout};
    SET idle_in_transaction_session_timeout TO ${standstillTimeout};
    SET synchronous_commit TO on;
    SET plan_cache_mode TO force_custom_plan;
    ${foundOutSoon}
  `);
}

/** Whole and exact numbers are read as numbers: ours stay far below what a number can hold. */
function numbersOf({ types }: Pg): CustomTypesConfig {
  const exact = new Set<number>([types.builtins.INT8, types.builtins.NUMERIC]);
  return {
    getTypeParser: (oid: number, format?: "text" | "binary") =>
      exact.has(oid) ? Number : types.getTypeParser(oid, format),
  };
}

function ignore(): void {}
