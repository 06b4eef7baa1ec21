import type { SharedStore } from "../contracts/shared-store.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { PostgresDatabase } from "./database.ts";
import { toPostgresOpenError } from "./errors.ts";
import { checkVersion, migrate } from "./migrations.ts";
import { PostgresNodeStore } from "./node-store.ts";
import { NotifyChannel } from "./notify-channel.ts";
import { PostgresJobFileStore, PostgresOutputStore } from "./output-store.ts";
import { parseStoreAddress, type StoreAddress } from "./store-address.ts";

export interface OpenPostgresOptions {
  /** A schema of an older version is refused instead of migrated. */
  readOnly?: boolean;
}

export interface OpenedPostgres {
  database: PostgresDatabase;
  shared: SharedStore;
  /** Also stops the listeners. */
  close(): Promise<void>;
}

/**
 * The client library is imported only here, because a fleet with an embedded database does not need
 * it.
 */
export async function openPostgres(
  connectionString: string,
  options: OpenPostgresOptions = {},
): Promise<OpenedPostgres> {
  const address = parseStoreAddress(connectionString);
  const { default: pg } = await import("pg");
  const connections = new ConnectionPool(address, pg);
  try {
    await ensureSchema(connections, address, options);
  } catch (error) {
    await connections.close();
    throw toPostgresOpenError(address, error);
  }
  const database = new PostgresDatabase(connections);
  const notifyChannel = new NotifyChannel(connections, database);
  const shared: SharedStore = {
    nodes: new PostgresNodeStore({
      database,
      runUnfenced: (work, timeoutMs) => database.runUnfenced(work, timeoutMs),
      setWriter: (writer) => database.setWriter(writer),
    }),
    outputs: new PostgresOutputStore(database),
    files: new PostgresJobFileStore(database),
    connectionString,
    notify: (text) => notifyChannel.notify(text),
    listen: (onMessage, onMissed) => notifyChannel.listen(onMessage, onMissed),
  };
  const close = async () => {
    await notifyChannel.close();
    await database.close();
  };
  return { database, shared, close };
}

async function ensureSchema(
  connections: ConnectionPool,
  address: StoreAddress,
  { readOnly }: OpenPostgresOptions,
): Promise<void> {
  const client = await connections.connectWithoutQueryTimeout();
  try {
    if (!readOnly || !(await checkVersion(client, address))) await migrate(client, address);
  } finally {
    await client.end();
  }
}
