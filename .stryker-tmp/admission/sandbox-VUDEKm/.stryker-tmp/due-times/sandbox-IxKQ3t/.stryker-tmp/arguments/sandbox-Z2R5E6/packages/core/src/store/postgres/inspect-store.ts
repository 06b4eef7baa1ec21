import type { PoolClient } from "pg";
import { ConnectionPool } from "./connection-pool.ts";
import { toPostgresOpenError } from "./errors.ts";
import { parseStoreAddress } from "./store-address.ts";

/** Facts about a store, for a process that does not use it yet. */
export interface StoreInspection {
  /** Without the password. */
  address: string;
  database: string;
  user: string;
  /** Its version as text, and its major version as a number. */
  server: string;
  serverNumber: number;
  encoding: string;
  isStandby: boolean;
  /** Whether tables may be created. */
  canCreateTables: boolean;
  /** The store contains nothing of herdctl. */
  isFresh: boolean;
  version: number;
  latencyMs: number;
  /** How far the clock of this machine is ahead of the database's. */
  clockSkewMs: number;
}

/** Changes nothing in the database. */
export async function inspectStore(connectionString: string): Promise<StoreInspection> {
  const address = parseStoreAddress(connectionString);
  const { default: pg } = await import("pg");
  const connections = new ConnectionPool(address, pg);
  try {
    const client = await connections.acquire();
    try {
      return {
        address: address.name,
        ...(await readServerFacts(client)),
        ...(await measureClock(client)),
      };
    } finally {
      connections.release(client);
    }
  } catch (error) {
    throw toPostgresOpenError(address, error);
  } finally {
    await connections.close();
  }
}

async function readServerFacts(client: PoolClient) {
  const { rows } = await client.query(`
    SELECT current_database() AS database, current_user AS user,
      current_setting('server_version') AS server,
      current_setting('server_version_num')::integer / 10000 AS number,
      current_setting('server_encoding') AS encoding,
      pg_is_in_recovery() AS standby,
      has_database_privilege(current_database(), 'CREATE') AS may_create,
      to_regclass('herdctl.schema_version') IS NULL AS fresh`);
  const [found = {}] = rows;
  const isFresh = Boolean(found.fresh);
  return {
    database: String(found.database),
    user: String(found.user),
    server: String(found.server),
    serverNumber: Number(found.number),
    encoding: String(found.encoding),
    isStandby: Boolean(found.standby),
    canCreateTables: Boolean(found.may_create),
    isFresh,
    version: isFresh ? 0 : await readSchemaVersion(client),
  };
}

async function readSchemaVersion(client: PoolClient): Promise<number> {
  const { rows } = await client.query("SELECT version FROM herdctl.schema_version");
  return Number(rows[0]?.version ?? 0);
}

const sampleCount = 5;

/** Uses the fastest of several samples, because the others were delayed. */
async function measureClock(
  client: PoolClient,
): Promise<{ latencyMs: number; clockSkewMs: number }> {
  let best = { latencyMs: Number.POSITIVE_INFINITY, clockSkewMs: 0 };
  for (let sample = 0; sample < sampleCount; sample++) {
    const [began, since] = [Date.now(), performance.now()];
    const { rows } = await client.query(
      "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now",
    );
    const latencyMs = performance.now() - since;
    const clockSkewMs = began + latencyMs / 2 - Number(rows[0]?.now);
    if (latencyMs < best.latencyMs) best = { latencyMs, clockSkewMs };
  }
  return best;
}
