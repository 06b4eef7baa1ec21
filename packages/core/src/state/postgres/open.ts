import type { SharedStore } from "../shared.ts";
import { parseAddress, type StoreAddress } from "./address.ts";
import { Connections } from "./connections.ts";
import { PostgresDatabase } from "./database.ts";
import { explainOpening } from "./errors.ts";
import { PostgresKeptFileStore } from "./kept-file-store.ts";
import { checkVersion, migrate } from "./migrations.ts";
import { News } from "./news.ts";
import { PostgresNodeStore } from "./node-store.ts";
import { PostgresOutputStore } from "./output-store.ts";

export interface OpenPostgresOptions {
  /** What an older herdctl wrote is refused, and not brought up to date. */
  readOnly?: boolean;
}

export interface OpenedPostgres {
  database: PostgresDatabase;
  shared: SharedStore;
  /** Also ends what listens. */
  close(): Promise<void>;
}

/** The client library is read only here: a fleet on its own file never needs it. */
export async function openPostgres(
  given: string,
  options: OpenPostgresOptions = {},
): Promise<OpenedPostgres> {
  const address = parseAddress(given);
  const { default: pg } = await import("pg");
  const connections = new Connections(address, pg);
  try {
    await prepare(connections, address, options);
  } catch (error) {
    await connections.close();
    throw explainOpening(address, error);
  }
  const database = new PostgresDatabase(connections);
  const news = new News(connections, database);
  const shared: SharedStore = {
    nodes: new PostgresNodeStore({
      database,
      unfenced: (work, within) => database.unfenced(work, within),
      actAs: (writer) => database.actAs(writer),
    }),
    outputs: new PostgresOutputStore(database),
    files: new PostgresKeptFileStore(database),
    connectionString: given,
    notify: (text) => news.notify(text),
    listen: (heard, missed) => news.listen(heard, missed),
  };
  const close = async () => {
    await news.close();
    await database.close();
  };
  return { database, shared, close };
}

async function prepare(
  connections: Connections,
  address: StoreAddress,
  { readOnly }: OpenPostgresOptions,
): Promise<void> {
  const client = await connections.patientClient();
  try {
    if (!readOnly || !(await checkVersion(client, address))) await migrate(client, address);
  } finally {
    await client.end();
  }
}
