import { hasErrorCode } from "@herdctl/protocol";
import { isStoreUnavailable } from "../../lib/retry.ts";
import type { SqlProgram } from "../sql/sql-program.ts";

type RunTransaction = (work: () => SqlProgram<void>) => Promise<void>;

/** One call's part of a transaction, and its callbacks. */
interface PendingWrite {
  work(transaction: object): SqlProgram<void>;
  onCommitted(): void;
  onFailed(error: unknown): void;
}

/**
 * Writes that arrive during a transaction share the next one: a round trip and a disk write cost
 * the same for one as for a hundred.
 */
export class PostgresGroupCommit {
  #pending: PendingWrite[] = [];
  #running: Promise<void> | undefined;

  constructor(private readonly transact: RunTransaction) {}

  /** Durable when it resolves. The work may run twice, but is committed only once. */
  add<T>(work: (transaction: object) => SqlProgram<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      this.#pending.push({
        *work(transaction) {
          result = { value: yield* work(transaction) };
        },
        onCommitted: () => result && resolve(result.value),
        onFailed: reject,
      });
      this.#running ??= this.#commitUntilEmpty();
    });
  }

  /** Resolves when no write is pending. */
  async flush(): Promise<void> {
    await this.#running;
  }

  async #commitUntilEmpty(): Promise<void> {
    // Collects all writes of the same tick.
    await new Promise((next) => setImmediate(next));
    while (this.#pending.length > 0) await this.#commitBatch(this.#pending.splice(0));
    this.#running = undefined;
  }

  async #commitBatch(writes: readonly PendingWrite[]): Promise<void> {
    const error = await this.#tryCommit(writes);
    if (error === undefined) for (const write of writes) write.onCommitted();
    // A retry would fail the same way, or repeat a write that was committed.
    else if (writes.length === 1 || affectsWholeBatch(error))
      for (const write of writes) write.onFailed(error);
    // One by one, so that a failing write does not affect the others.
    else for (const write of writes) await this.#commitBatch([write]);
  }

  async #tryCommit(writes: readonly PendingWrite[]): Promise<unknown> {
    try {
      await this.transact(function* () {
        const transaction = {};
        for (const write of writes) yield* write.work(transaction);
      });
      return undefined;
    } catch (error) {
      return error ?? new Error("a transaction failed");
    }
  }
}

function affectsWholeBatch(error: unknown): boolean {
  return isStoreUnavailable(error) || hasErrorCode(error, "node_fenced");
}
