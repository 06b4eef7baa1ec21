import { UserError } from "@herdctl/protocol";
import type { ClientBase } from "pg";
import { accessSchema, knownPeersSchema } from "./nodes-schema.ts";
import { requestSchema } from "./request-schema.ts";
import { firstSchema } from "./schema.ts";
import { searchSchema } from "./search-schema.ts";
import type { StoreAddress } from "./store-address.ts";

/** Step n upgrades a store from version n to n + 1. Everything is in the schema `herdctl`. */
export const migrations: readonly string[] = [
  firstSchema,
  knownPeersSchema,
  accessSchema,
  searchSchema,
  requestSchema,
];

/** If several nodes start together, one of them migrates and the others find it done. */
export async function migrate(
  client: ClientBase,
  address: StoreAddress,
  steps: readonly string[] = migrations,
): Promise<void> {
  await checkServer(client);
  if ((await readSchemaVersion(client, address, steps)) === steps.length) return;
  await client.query("BEGIN");
  try {
    // No timeout, because a migration may take long, and so may waiting for another node's.
    await client.query("SET LOCAL statement_timeout TO 0");
    await client.query("SELECT pg_advisory_xact_lock(hashtext('herdctl'), hashtext('migrate'))");
    const version = await readSchemaVersion(client, address, steps);
    if (version === 0) await client.query(createVersionTable);
    for (const step of steps.slice(version)) await client.query(step);
    await client.query(`UPDATE herdctl.schema_version SET version = ${steps.length}`);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Checks the version for read-only access. Returns false if the store is empty. */
export async function checkVersion(
  client: ClientBase,
  address: StoreAddress,
  steps: readonly string[] = migrations,
): Promise<boolean> {
  const version = await readSchemaVersion(client, address, steps);
  if (version === steps.length || version === 0) return version > 0;
  throw new UserError("state_older", `${address.name} was written by an older herdctl`);
}

const createVersionTable = `
  CREATE SCHEMA IF NOT EXISTS herdctl;
  CREATE TABLE herdctl.schema_version (version integer NOT NULL);
  INSERT INTO herdctl.schema_version VALUES (0)
`;

async function readSchemaVersion(
  client: ClientBase,
  address: StoreAddress,
  steps: readonly string[],
): Promise<number> {
  const table = await client.query("SELECT to_regclass('herdctl.schema_version') AS name");
  if (table.rows[0]?.name === null) return 0;
  const { rows } = await client.query("SELECT version FROM herdctl.schema_version");
  const version = Number(rows[0]?.version ?? 0);
  if (version <= steps.length) return version;
  const message = `${address.name} was written by a newer herdctl (version ${version}; this one supports up to ${steps.length})`;
  throw new UserError("state_newer", message);
}

const minServerVersion = 130000;

async function checkServer(client: ClientBase): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version_num')::integer AS number,
       current_setting('server_version') AS version, current_setting('server_encoding') AS encoding`,
  );
  const { number, version, encoding } = rows[0] ?? {};
  if (Number(number) < minServerVersion) {
    const message = `the server is PostgreSQL ${version}; herdctl needs 13 or newer`;
    throw new UserError("store_refused", message, { hint: "Use a newer PostgreSQL." });
  }
  if (encoding === "UTF8") return;
  throw new UserError("store_refused", `the encoding of the database is ${encoding}, not UTF8`, {
    hint: "Create one with `CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'`.",
  });
}
