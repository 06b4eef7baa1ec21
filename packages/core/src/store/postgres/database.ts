import { setTimeout as delay } from "node:timers/promises";
import { raceTimeout, UserError } from "@herdctl/protocol";
import type { PoolClient, QueryResult } from "pg";
import { Semaphore } from "../../lib/semaphore.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { toTsQuery } from "../model/search-text.ts";
import type {
  SqlDatabase,
  SqlDialect,
  SqlProgram,
  SqlResult,
  SqlRow,
  SqlStatement,
} from "../sql/sql-program.ts";
import { type ConnectionPool, maxReaders, maxShortQueries } from "./connection-pool.ts";
import { classifyFailure, QueryTimeoutError, toPostgresUserError } from "./errors.ts";
import { PostgresGroupCommit } from "./group-commit.ts";
import type { NodeWriter } from "./node-store.ts";
import { decodeJson, decodeText, translateStatement } from "./statement.ts";
import type { StoreAddress } from "./store-address.ts";

export class PostgresDatabase implements SqlDatabase {
  readonly name: string;
  readonly dialect: SqlDialect = {
    greatest: "greatest",
    hint: () => "",
    hasNodes: true,
    textSearch: {
      from: "job_texts JOIN jobs ON jobs.seq = job_texts.seq",
      matches: "job_texts.words @@ to_tsquery('simple', ?)",
      seq: "job_texts.seq",
      isOrdered: false,
      toQuery: toTsQuery,
    },
  };
  private readonly address: StoreAddress;
  private readonly readSlots = new Semaphore(maxReaders);
  /**
   * The server allows one write at a time, so one write of this process waits there and the others
   * here.
   */
  private readonly writeSlot = new Semaphore(1);
  /** For queries that must not wait for writers: heartbeats and notifications. */
  private readonly shortQuerySlots = new Semaphore(maxShortQueries);
  private readonly committer = new PostgresGroupCommit((work) =>
    this.explainErrors(() => this.retryConflicts(work, sharedSettleTimeoutMs)),
  );
  private writer: NodeWriter | undefined;

  constructor(private readonly connections: ConnectionPool) {
    this.address = connections.address;
    this.name = connections.address.name;
  }

  /**
   * From now on every write belongs to this node, and is refused if its lease is lost. With
   * undefined, writes belong to no node.
   */
  setWriter(writer: NodeWriter | undefined): void {
    this.writer = writer;
  }

  read<T>(work: () => SqlProgram<T>): Promise<T> {
    return this.readSlots.run(() =>
      this.explainErrors(() =>
        this.retryOnceIfLost(() => this.withClient((client) => runReadProgram(client, work))),
      ),
    );
  }

  transaction<T>(work: () => SqlProgram<T>): Promise<T> {
    return this.explainErrors(() => this.retryConflicts(work, Number.POSITIVE_INFINITY));
  }

  groupCommit<T>(work: (transaction: object) => SqlProgram<T>): Promise<T> {
    return this.committer.add(work);
  }

  /**
   * A transaction without the fence and without waiting for the writer lock: a node must be able to
   * send heartbeats while others write, and to join again after it was fenced. `timeoutMs`: how
   * long to wait for one connection before another is tried.
   */
  runUnfenced<T>(work: () => SqlProgram<T>, timeoutMs?: number): Promise<T> {
    return this.shortQuerySlots.run(() =>
      this.explainErrors(() => this.retryOnceIfLost(() => this.transactUnfenced(work, timeoutMs))),
    );
  }

  /** Runs a statement outside a transaction, for anything but herdctl's tables. */
  execute(sql: string, values: unknown[] = []): Promise<SqlRow[]> {
    return this.shortQuerySlots.run(() =>
      this.explainErrors(() =>
        this.withClient(async (client) => (await client.query<SqlRow>(sql, values)).rows),
      ),
    );
  }

  async close(): Promise<void> {
    await this.committer.flush();
    await this.connections.close();
  }

  /** Retries transactions that conflicted with each other. */
  private async retryConflicts<T>(work: () => SqlProgram<T>, settleTimeoutMs: number): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const done = await this.writeSlot.run(() =>
          this.retryOnceIfLost(() => this.transact(work)),
        );
        if (done.lost !== undefined)
          await this.resolveCommitStatus(done.transaction, done.lost, settleTimeoutMs);
        return done.result;
      } catch (error) {
        const isRetryable =
          error instanceof TransactionAborted || classifyFailure(error) === "again";
        if (!isRetryable || attempt === maxAttempts) throw error;
        await delay(Math.random() * 20 * attempt);
      }
    }
  }

  /** If the answer to COMMIT is lost, the next call finds out whether it was committed. */
  private transactUnfenced<T>(work: () => SqlProgram<T>, timeoutMs?: number): Promise<T> {
    return this.withClient(async (client) => {
      await client.query("BEGIN");
      const result = await rollBackOnFailure(client, () => runProgram(client, work()));
      const lost = await commit(client);
      if (lost !== undefined) throw toPostgresUserError(this.address, lost);
      return result;
    }, timeoutMs);
  }

  /** `lost` is set if it is unknown whether the transaction was committed. */
  private transact<T>(
    work: () => SqlProgram<T>,
  ): Promise<{ result: T; transaction: string; lost: unknown }> {
    return this.withClient(async (client) => {
      const transaction = await begin(client, this.writer);
      const result = await rollBackOnFailure(client, () => runProgram(client, work()));
      return { result, transaction, lost: await commit(client) };
    });
  }

  /**
   * The answer to COMMIT was lost, so only the server knows the result. This polls the server until
   * it answers, so that a write that is retried is never done twice. Group commits cannot wait that
   * long, because later ones wait behind them: they count as failed, although they may have been
   * committed. They contain admissions, which callers can repeat safely with a key; without a key,
   * herdctl does not repeat them.
   */
  private async resolveCommitStatus(
    transaction: string,
    lost: unknown,
    settleTimeoutMs: number,
  ): Promise<void> {
    const deadline = Date.now() + settleTimeoutMs;
    for (;;) {
      const status = await this.readCommitStatus(transaction).catch(() => "unknown");
      if (status === "committed") return;
      if (status === "aborted") throw new TransactionAborted(lost);
      const shouldGiveUp = Date.now() > deadline || this.connections.isClosed || status === null;
      if (shouldGiveUp) throw toPostgresUserError(this.address, lost);
      await delay(200);
    }
  }

  private async readCommitStatus(transaction: string): Promise<unknown> {
    const sql = "SELECT pg_xact_status($1::xid8) AS status";
    return this.shortQuerySlots.run(() =>
      this.withClient(async (client) => (await client.query(sql, [transaction])).rows[0]?.status),
    );
  }

  /** An idle connection may have died. Nothing was written, so the work is repeated. */
  private async retryOnceIfLost<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      return await work();
    }
  }

  private async withClient<T>(
    work: (client: PoolClient) => Promise<T>,
    timeoutMs?: number,
  ): Promise<T> {
    const client = await this.connections.acquire();
    let isBroken = true;
    try {
      const result = await withQueryTimeout(work(client), timeoutMs);
      isBroken = client.getTransactionStatus() !== "I";
      return result;
    } catch (error) {
      isBroken = classifyFailure(error) === "lost" || client.getTransactionStatus() !== "I";
      throw isBroken && classifyFailure(error) === "lost" ? new ConnectionLost(error) : error;
    } finally {
      this.connections.release(client, isBroken);
    }
  }

  private async explainErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof UserError) throw error;
      const isWrapped = error instanceof ConnectionLost || error instanceof TransactionAborted;
      throw toPostgresUserError(this.address, isWrapped ? error.cause : error);
    }
  }
}

const maxAttempts = 8;
/** How long to ask for the result of a group commit, for which others wait. */
const sharedSettleTimeoutMs = 10_000;

class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super("the connection was lost before the commit", { cause });
  }
}

class TransactionAborted extends Error {
  constructor(cause: unknown) {
    super("the transaction was rolled back", { cause });
  }
}

/** A connection that is silent for longer counts as lost. */
async function withQueryTimeout<T>(work: Promise<T>, timeoutMs: number | undefined): Promise<T> {
  if (timeoutMs === undefined) return work;
  return raceTimeout(work, timeoutMs, () => {
    throw new QueryTimeoutError("the query timed out");
  });
}

/**
 * One statement is consistent by itself. Several statements need a snapshot, which must be
 * requested before the first, so the work starts again.
 */
async function runReadProgram<T>(client: PoolClient, work: () => SqlProgram<T>): Promise<T> {
  const steps = work();
  const first = steps.next();
  if (first.done) return first.value;
  const second = steps.next(await executeStatement(client, first.value));
  if (second.done) return second.value;
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const result = await rollBackOnFailure(client, () => runProgram(client, work()));
  await client.query("COMMIT");
  return result;
}

async function runProgram<T>(client: PoolClient, steps: SqlProgram<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    let found: SqlResult;
    try {
      found = await executeStatement(client, step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(found);
  }
  return step.value;
}

async function executeStatement(
  client: PoolClient,
  { kind, sql, values }: SqlStatement,
): Promise<SqlResult> {
  const { name, text, encode } = translateStatement(sql);
  const { rows, rowCount } = await client.query<SqlRow>({ name, text, values: encode(values) });
  return kind === "rows" ? rows.map(decodeRow) : (rowCount ?? 0);
}

function decodeRow(row: SqlRow): SqlRow {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== "string") continue;
    row[name] = name === "record" ? decodeJson(value) : decodeText(value);
  }
  return row;
}

/** Returns the id of the transaction, by which the server can report its status later. */
async function begin(client: PoolClient, writer: NodeWriter | undefined): Promise<string> {
  const writerArguments = writer
    ? `${client.escapeLiteral(writer.id)}, ${Number(writer.epoch)}`
    : "NULL, NULL";
  return rollBackOnFailure(client, async () => {
    // One round trip for both statements, with one result each.
    const results: unknown = await client.query(
      `BEGIN; SELECT herdctl.begin_write(${writerArguments}) AS transaction`,
    );
    const [, begun] = results as QueryResult<{ transaction: string }>[];
    return String(begun?.rows[0]?.transaction);
  });
}

async function rollBackOnFailure<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rollBack(client, error);
    throw error;
  }
}

/** Resolves with the error if it is unknown whether the transaction was committed. */
async function commit(client: PoolClient): Promise<unknown> {
  await rollBackOnFailure(client, async () => failPoint("database write"));
  try {
    const { command } = await client.query("COMMIT");
    // The server answers ROLLBACK if a statement had failed and its error was ignored.
    if (command === "ROLLBACK") throw new Error("the server rolled back the transaction at COMMIT");
    return undefined;
  } catch (error) {
    if (classifyFailure(error) !== "lost") throw error;
    return error;
  }
}

async function rollBack(client: PoolClient, error: unknown): Promise<void> {
  if (classifyFailure(error) === "lost") return;
  // If this fails, the connection is not returned to the pool as usable.
  await client.query("ROLLBACK").catch(() => undefined);
}
