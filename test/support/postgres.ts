import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";
import { expect, onTestFinished } from "vitest";
import type { WhenOver } from "./folder.ts";
import { postgresSocket } from "./postgres-desk.ts";
import { startPostgresProgram } from "./postgres-program.ts";

/** The address of an empty database on the PostgreSQL of this run; gone when the test is over. */
export async function testDatabase(whenOver: WhenOver = onTestFinished): Promise<string> {
  const server = await testServer();
  return newDatabase(server, whenOver);
}

/**
 * The private PostgreSQL of this run. The first to ask waits until it is installed and started: ask
 * at the top of a test file, where no time limit is set.
 */
export async function testServer(): Promise<string> {
  const answer = JSON.parse(
    await text(connect(postgresSocket(process.env.HERDCTL_TEST_RUN ?? ""))),
  );
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.address;
}

export interface OwnPostgres {
  /** Of an empty database. */
  address: string;
  /** In order, as for an upgrade. */
  stop(): Promise<void>;
  /** As a crash would. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A server for one test alone, which may harm it; gone when the test is over. */
export async function ownPostgres(
  options: { durable?: boolean } = {},
  whenOver: WhenOver = onTestFinished,
): Promise<OwnPostgres> {
  const program = startPostgresProgram(...(options.durable ? ["--durable"] : []));
  whenOver(async () => {
    expect(await program.end()).toEqual([]);
  });
  const { address } = JSON.parse(await program.ready);
  return {
    address: await newDatabase(address, () => undefined),
    stop: () => program.order("stop"),
    kill: () => program.order("kill"),
    start: () => program.order("start"),
  };
}

/** One statement on a connection of its own. */
export async function ask(
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

async function newDatabase(server: string, whenOver: WhenOver): Promise<string> {
  const name = `herd_${randomBytes(6).toString("hex")}`;
  await ask(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  whenOver(async () => {
    await ask(server, `DROP DATABASE ${name} WITH (FORCE)`);
  });
  const address = new URL(server);
  address.pathname = name;
  return address.href;
}
