import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";
import { expect, onTestFinished } from "vitest";
import { startPostgresProgram } from "./postgres-process.ts";
import { sharedPostgresSocket } from "./shared-postgres.ts";
import type { RegisterCleanup } from "./temp-folder.ts";

/**
 * The address of an empty database on the PostgreSQL of this run, dropped at the end of the test.
 */
export async function createTestDatabase(
  onCleanup: RegisterCleanup = onTestFinished,
): Promise<string> {
  const server = await sharedPostgresAddress();
  return createDatabase(server, onCleanup);
}

/**
 * The private PostgreSQL of this run. The first call waits until it is installed and started: await
 * it at the top of a test file, where no time limit applies.
 */
export async function sharedPostgresAddress(): Promise<string> {
  const answer = JSON.parse(
    await text(connect(sharedPostgresSocket(process.env.HERDCTL_TEST_RUN ?? ""))),
  );
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.address;
}

export interface PrivatePostgres {
  /** Address of an empty database. */
  address: string;
  /** Stops it cleanly, as for an upgrade. */
  stop(): Promise<void>;
  /** Simulates a crash. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A separate server for a test that damages it, removed at the end of the test. */
export async function startPrivatePostgres(
  options: { durable?: boolean } = {},
  onCleanup: RegisterCleanup = onTestFinished,
): Promise<PrivatePostgres> {
  const program = startPostgresProgram(...(options.durable ? ["--durable"] : []));
  onCleanup(async () => {
    expect(await program.end()).toEqual([]);
  });
  const { address } = JSON.parse(await program.ready);
  return {
    address: await createDatabase(address, () => undefined),
    stop: () => program.sendCommand("stop"),
    kill: () => program.sendCommand("kill"),
    start: () => program.sendCommand("start"),
  };
}

/** Runs one statement on a separate connection. */
export async function queryDatabase(
  address: string,
  sql: string,
  ...values: unknown[]
): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

async function createDatabase(server: string, onCleanup: RegisterCleanup): Promise<string> {
  const name = `herd_${randomBytes(6).toString("hex")}`;
  await queryDatabase(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  onCleanup(async () => {
    await queryDatabase(server, `DROP DATABASE ${name} WITH (FORCE)`);
  });
  const address = new URL(server);
  address.pathname = name;
  return address.href;
}
