/** Atomic, and durable when it returns. */
type RunTransaction = (work: () => void) => void;

/** One call's part of a transaction, and its callbacks. */
interface PendingWrite {
  work(transaction: object): void;
  onCommitted(): void;
  onFailed(error: unknown): void;
}

/**
 * A durable write waits for the disk, which costs the same for one as for a hundred. So calls that
 * arrive during a transaction share the next one.
 */
export class SqliteGroupCommit {
  private pending: PendingWrite[] = [];
  private scheduledCommit: NodeJS.Immediate | undefined;

  constructor(private readonly transact: RunTransaction) {}

  /**
   * Durable when it resolves. The work may run twice, but is committed only once. `transaction` is
   * the same object for all calls in one transaction, so they can share data.
   */
  add<T>(work: (transaction: object) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      this.pending.push({
        work: (transaction) => {
          result = { value: work(transaction) };
        },
        onCommitted: () => result && resolve(result.value),
        onFailed: reject,
      });
      this.scheduledCommit ??= setImmediate(() => this.flush());
    });
  }

  /** Commits immediately, because the database is about to be closed. */
  flush(): void {
    clearImmediate(this.scheduledCommit);
    this.scheduledCommit = undefined;
    const writes = this.pending;
    this.pending = [];
    if (writes.length === 1 || !this.commitTogether(writes))
      for (const write of writes) this.commitOne(write);
  }

  /** Returns false if one of them failed, so that all were rolled back. */
  private commitTogether(writes: readonly PendingWrite[]): boolean {
    try {
      this.transact(() => {
        const transaction = {};
        for (const write of writes) write.work(transaction);
      });
    } catch {
      return false;
    }
    for (const write of writes) write.onCommitted();
    return true;
  }

  /** Commits separately, so that a failing write does not affect the others. */
  private commitOne(write: PendingWrite): void {
    try {
      this.transact(() => write.work({}));
    } catch (error) {
      write.onFailed(error);
      return;
    }
    write.onCommitted();
  }
}
