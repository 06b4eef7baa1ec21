import { Socket } from "node:net";
import type { Client, ClientBase, ClientConfig, CustomTypesConfig, Pool, PoolClient } from "pg";
import { StoreClosedError } from "./errors.ts";
import type { StoreAddress } from "./store-address.ts";

type PgModule = Pick<typeof import("pg"), "Client" | "Pool" | "types">;

/** Maximum time of a statement on the server, which then cancels it. */
const statementTimeoutMs = 5_000;
/** After this time the connection counts as dead and is discarded. */
const queryTimeoutMs = 6_500;
const connectTimeoutMs = 3_000;
/**
 * Shorter than the statement timeout: a frozen or disconnected client that holds the writer lock is
 * disconnected before the clients that wait for it time out.
 */
const idleInTransactionTimeoutMs = 3_500;

/** Also set on the server, which would otherwise keep the connection of a dead client for hours. */
export const keepaliveSettings = `
    SET tcp_keepalives_idle TO 10;
    SET tcp_keepalives_interval TO 5;
    SET tcp_keepalives_count TO 3`;

/** Connections for reads and for short queries, besides one for writes. */
export const maxReaders = 4;
export const maxShortQueries = 2;

/**
 * Connections to one database. They are discarded together when one of them is dead, because the
 * others use the same network and server.
 */
export class ConnectionPool {
  #pool: Pool | undefined;
  #closing: Promise<unknown>[] = [];
  readonly #sockets = new Set<Socket>();
  #closed = false;

  constructor(
    readonly address: StoreAddress,
    private readonly pg: PgModule,
  ) {}

  get isClosed(): boolean {
    return this.#closed;
  }

  async acquire(): Promise<PoolClient> {
    if (this.#closed) throw new StoreClosedError("the store is closed");
    this.#pool ??= this.#newPool();
    const client = await this.#pool.connect();
    // Errors of a connection in use are reported by its query.
    client.on("error", ignore);
    return client;
  }

  release(client: PoolClient, isBroken = false): void {
    client.removeListener("error", ignore);
    client.release(isBroken);
    if (isBroken) this.#discardPool();
  }

  /** A connection outside the pool with the same settings, for LISTEN. */
  newClient(): Client {
    return new this.pg.Client(this.#clientConfig());
  }

  /** For work that may take long, such as migrating a large store. */
  async connectWithoutQueryTimeout(): Promise<Client> {
    const client = new this.pg.Client({ ...this.#clientConfig(), query_timeout: undefined });
    client.on("error", ignore);
    await client.connect();
    await configureSession(client);
    return client;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#discardPool();
    const destroyTimer = setTimeout(() => this.#destroySockets(), 1_000);
    await Promise.all(this.#closing);
    clearTimeout(destroyTimer);
    this.#destroySockets();
  }

  #destroySockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #discardPool(): void {
    const pool = this.#pool;
    this.#pool = undefined;
    if (!pool) return;
    const ended = pool.end().catch(ignore);
    this.#closing.push(ended);
    ended.then(() => {
      this.#closing = this.#closing.filter((closing) => closing !== ended);
    });
  }

  #newPool(): Pool {
    const pool = new this.pg.Pool({
      ...this.#clientConfig(),
      max: maxReaders + 1 + maxShortQueries,
      onConnect: configureSession,
    });
    pool.on("error", ignore);
    return pool;
  }

  #clientConfig(): ClientConfig {
    return {
      connectionString: this.address.connectionString,
      application_name: "herdctl",
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      types: numberParsers(this.pg),
      stream: () => this.#newSocket(),
    };
  }

  /** Tracked, because a socket whose peer does not respond must be destroyed. */
  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }
}

/**
 * Set by statements and not as connection parameters, because connection poolers refuse unknown
 * ones. Plans are made for the actual values, because a table that was empty when a statement was
 * prepared may have a million rows now.
 */
async function configureSession(client: ClientBase): Promise<void> {
  await client.query(`
    SET search_path TO herdctl;
    SET statement_timeout TO ${statementTimeoutMs};
    SET idle_in_transaction_session_timeout TO ${idleInTransactionTimeoutMs};
    SET synchronous_commit TO on;
    SET plan_cache_mode TO force_custom_plan;
    ${keepaliveSettings}
  `);
}

/**
 * Large integers and exact numerics are read as numbers; the stored values are far below the limit.
 */
function numberParsers({ types }: PgModule): CustomTypesConfig {
  const exactNumericTypes = new Set<number>([types.builtins.INT8, types.builtins.NUMERIC]);
  return {
    getTypeParser: (oid: number, format?: "text" | "binary") =>
      exactNumericTypes.has(oid) ? Number : types.getTypeParser(oid, format),
  };
}

function ignore(): void {}
