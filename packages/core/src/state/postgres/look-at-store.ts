import type { PoolClient } from "pg";
import { parseAddress } from "./address.ts";
import { Connections } from "./connections.ts";
import { explainOpening } from "./errors.ts";

/** What somebody who does not use a store yet can see of it. */
export interface StoreFacts {
  /** Without the password. */
  address: string;
  database: string;
  user: string;
  /** Its version, in words and as the first number of it. */
  server: string;
  serverNumber: number;
  encoding: string;
  isStandby: boolean;
  /** Whether tables may be made there. */
  mayCreate: boolean;
  /** Nothing of ours is there yet. */
  isFresh: boolean;
  version: number;
  latencyMs: number;
  /** How far the clock here is ahead of the database's. */
  skewMs: number;
}

/** Changes nothing there. */
export async function lookAtStore(given: string): Promise<StoreFacts> {
  const address = parseAddress(given);
  const { default: pg } = await import("pg");
  const connections = new Connections(address, pg);
  try {
    const client = await connections.take();
    try {
      return { address: address.name, ...(await factsOf(client)), ...(await timesOf(client)) };
    } finally {
      connections.giveBack(client);
    }
  } catch (error) {
    throw explainOpening(address, error);
  } finally {
    await connections.close();
  }
}

async function factsOf(client: PoolClient) {
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
    mayCreate: Boolean(found.may_create),
    isFresh,
    version: isFresh ? 0 : await versionOf(client),
  };
}

async function versionOf(client: PoolClient): Promise<number> {
  const { rows } = await client.query("SELECT version FROM herdctl.schema_version");
  return Number(rows[0]?.version ?? 0);
}

const samples = 5;

/** Of several, the quickest: the others had to wait for something else. */
async function timesOf(client: PoolClient): Promise<{ latencyMs: number; skewMs: number }> {
  let best = { latencyMs: Number.POSITIVE_INFINITY, skewMs: 0 };
  for (let sample = 0; sample < samples; sample++) {
    const [began, since] = [Date.now(), performance.now()];
    const { rows } = await client.query(
      "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now",
    );
    const latencyMs = performance.now() - since;
    const skewMs = began + latencyMs / 2 - Number(rows[0]?.now);
    if (latencyMs < best.latencyMs) best = { latencyMs, skewMs };
  }
  return best;
}
