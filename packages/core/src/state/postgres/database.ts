import { setTimeout as delay } from "node:timers/promises";
import type { PoolClient, QueryResult } from "pg";
import { UserError } from "../../errors/user-error.ts";
import { failPoint } from "../../faults/fail-point.ts";
import type { Dialect, SqlDatabase } from "../sql/sql-database.ts";
import type { Answer, Query, Row, Steps } from "../sql/steps.ts";
import type { StoreAddress } from "./address.ts";
import { aside, type Connections, readers } from "./connections.ts";
import { decodeJson, decodeText } from "./encode-json.ts";
import { explain, troubleOf } from "./errors.ts";
import type { Writer } from "./node-store.ts";
import { SharedBatch } from "./shared-batch.ts";
import { statementOf } from "./statement.ts";
import { Turnstile } from "./turnstile.ts";

export class PostgresDatabase implements SqlDatabase {
  readonly name: string;
  readonly dialect: Dialect = { greatest: "greatest", hint: () => "", nodes: true };
  readonly #address: StoreAddress;
  readonly #connections: Connections;
  readonly #reading = new Turnstile(readers);
  /** The server lets one write at a time: so one of ours waits there, and the others here. */
  readonly #writing = new Turnstile(1);
  /** What must not wait for those who write: signs of life, short news. */
  readonly #aside = new Turnstile(aside);
  readonly #shared = new SharedBatch((work) =>
    this.#explained(() => this.#again(work, askedForShared)),
  );
  #writer: Writer | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
    this.#address = connections.address;
    this.name = connections.address.name;
  }

  /** From now on every write is this node's, and refused once it has lost its lease; or nobody's. */
  actAs(writer: Writer | undefined): void {
    this.#writer = writer;
  }

  read<T>(work: () => Steps<T>): Promise<T> {
    return this.#reading.pass(() =>
      this.#explained(() => this.#twiceIfLost(() => this.#with((client) => readAll(client, work)))),
    );
  }

  transaction<T>(work: () => Steps<T>): Promise<T> {
    return this.#explained(() => this.#again(work, Number.POSITIVE_INFINITY));
  }

  together<T>(work: (transaction: object) => Steps<T>): Promise<T> {
    return this.#shared.join(work);
  }

  /**
   * A transaction without the fence and without waiting for the one writer: a node must be able to
   * show that it lives while others write, and to come back once it was fenced. `within` says how
   * long one connection is waited for before another is tried.
   */
  unfenced<T>(work: () => Steps<T>, within?: number): Promise<T> {
    return this.#aside.pass(() =>
      this.#explained(() => this.#twiceIfLost(() => this.#beside(work, within))),
    );
  }

  /** Outside a transaction, for what is not one of our tables. */
  execute(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.#aside.pass(() =>
      this.#explained(() =>
        this.#with(async (client) => (await client.query<Row>(sql, values)).rows),
      ),
    );
  }

  async close(): Promise<void> {
    await this.#shared.commit();
    await this.#connections.close();
  }

  /** What two transactions did to each other is nobody's matter but ours. */
  async #again<T>(work: () => Steps<T>, askedFor: number): Promise<T> {
    for (let round = 1; ; round++) {
      try {
        const done = await this.#writing.pass(() => this.#twiceIfLost(() => this.#transact(work)));
        if (done.lost !== undefined) await this.#settle(done.transaction, done.lost, askedFor);
        return done.result;
      } catch (error) {
        const isHarmless = error instanceof NotKept || troubleOf(error) === "again";
        if (!isHarmless || round === mostRounds) throw error;
        await delay(Math.random() * 20 * round);
      }
    }
  }

  /** Whether it was kept when the answer was lost is seen by the next one. */
  #beside<T>(work: () => Steps<T>, within?: number): Promise<T> {
    return this.#with(async (client) => {
      await client.query("BEGIN");
      const result = await undoneOnFailure(client, () => perform(client, work()));
      const lost = await commit(client);
      if (lost !== undefined) throw explain(this.#address, lost);
      return result;
    }, within);
  }

  /** `lost` says that nobody has heard whether it was kept. */
  #transact<T>(work: () => Steps<T>): Promise<{ result: T; transaction: string; lost: unknown }> {
    return this.#with(async (client) => {
      const transaction = await begin(client, this.#writer);
      const result = await undoneOnFailure(client, () => perform(client, work()));
      return { result, transaction, lost: await commit(client) };
    });
  }

  /**
   * The answer to COMMIT was lost: only the server knows whether it was kept, and is asked until it
   * answers. So a write that is tried until it can be done is never done twice: it does not fail
   * while that is open. What is shared cannot wait that long, since the next ones wait behind it:
   * it counts as refused although it may have been kept. Those are admissions, and whoever sends
   * one again is safe by its key; without a key nobody sends it again by himself.
   */
  async #settle(transaction: string, lost: unknown, askedFor: number): Promise<void> {
    const deadline = Date.now() + askedFor;
    for (;;) {
      const status = await this.#statusOf(transaction).catch(() => "unknown");
      if (status === "committed") return;
      if (status === "aborted") throw new NotKept(lost);
      const isOver = Date.now() > deadline || this.#connections.isClosed || status === null;
      if (isOver) throw explain(this.#address, lost);
      await delay(200);
    }
  }

  async #statusOf(transaction: string): Promise<unknown> {
    const sql = "SELECT pg_xact_status($1::xid8) AS status";
    return this.#aside.pass(() =>
      this.#with(async (client) => (await client.query(sql, [transaction])).rows[0]?.status),
    );
  }

  /** A connection may have died while nobody used it. Nothing was written, so it is done anew. */
  async #twiceIfLost<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LostInUse)) throw error;
      return await work();
    }
  }

  async #with<T>(work: (client: PoolClient) => Promise<T>, within?: number): Promise<T> {
    const client = await this.#connections.take();
    let isBroken = true;
    try {
      const result = await answeredWithin(work(client), within);
      isBroken = client.getTransactionStatus() !== "I";
      return result;
    } catch (error) {
      isBroken = troubleOf(error) === "lost" || client.getTransactionStatus() !== "I";
      throw isBroken && troubleOf(error) === "lost" ? new LostInUse(error) : error;
    } finally {
      this.#connections.giveBack(client, isBroken);
    }
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof UserError) throw error;
      const isWrapped = error instanceof LostInUse || error instanceof NotKept;
      throw explain(this.#address, isWrapped ? error.cause : error);
    }
  }
}

const mostRounds = 8;
/** How long the server is asked what became of a transaction for which others wait. */
const askedForShared = 10_000;

class LostInUse extends Error {
  constructor(cause: unknown) {
    super("the connection was lost before anything was kept", { cause });
  }
}

class NotKept extends Error {
  constructor(cause: unknown) {
    super("the transaction was undone", { cause });
  }
}

/** A line that is silent for longer counts as lost. */
async function answeredWithin<T>(work: Promise<T>, within: number | undefined): Promise<T> {
  if (within === undefined) return work;
  const over = new AbortController();
  const silence = delay(within, undefined, { signal: over.signal }).then(() => {
    throw new Error("Query read timeout");
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    over.abort();
    for (const left of [work, silence]) left.catch(() => undefined);
  }
}

/**
 * One statement is consistent by itself. Where there are more they are read from one moment, which
 * has to be said before the first: so the work begins anew.
 */
async function readAll<T>(client: PoolClient, work: () => Steps<T>): Promise<T> {
  const steps = work();
  const first = steps.next();
  if (first.done) return first.value;
  const second = steps.next(await answer(client, first.value));
  if (second.done) return second.value;
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const result = await undoneOnFailure(client, () => perform(client, work()));
  await client.query("COMMIT");
  return result;
}

async function perform<T>(client: PoolClient, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    let found: Answer;
    try {
      found = await answer(client, step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(found);
  }
  return step.value;
}

async function answer(client: PoolClient, { kind, sql, values }: Query): Promise<Answer> {
  const { name, text, encode } = statementOf(sql);
  const { rows, rowCount } = await client.query<Row>({ name, text, values: encode(values) });
  return kind === "rows" ? rows.map(decodeRow) : (rowCount ?? 0);
}

function decodeRow(row: Row): Row {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== "string") continue;
    row[name] = name === "record" ? decodeJson(value) : decodeText(value);
  }
  return row;
}

/** The number of the transaction, by which the server can be asked for it later. */
async function begin(client: PoolClient, writer: Writer | undefined): Promise<string> {
  const who = writer ? `${client.escapeLiteral(writer.id)}, ${Number(writer.epoch)}` : "NULL, NULL";
  return undoneOnFailure(client, async () => {
    // Both with one way to the server and back; the answer is one for each.
    const answers: unknown = await client.query(
      `BEGIN; SELECT herdctl.begin_write(${who}) AS transaction`,
    );
    const [, begun] = answers as QueryResult<{ transaction: string }>[];
    return String(begun?.rows[0]?.transaction);
  });
}

async function undoneOnFailure<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rollBack(client, error);
    throw error;
  }
}

/** Resolves with the error when nobody knows whether it was kept. */
async function commit(client: PoolClient): Promise<unknown> {
  await undoneOnFailure(client, async () => failPoint("database write"));
  try {
    const { command } = await client.query("COMMIT");
    // The answer when a statement had failed and somebody took no notice.
    if (command === "ROLLBACK") throw new Error("a transaction was undone as it was to be kept");
    return undefined;
  } catch (error) {
    if (troubleOf(error) !== "lost") throw error;
    return error;
  }
}

async function rollBack(client: PoolClient, error: unknown): Promise<void> {
  if (troubleOf(error) === "lost") return;
  // A connection on which this fails is not given back as sound.
  await client.query("ROLLBACK").catch(() => undefined);
}
