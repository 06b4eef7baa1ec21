/** All or nothing, and durable when it returns. */
type Transact = (work: () => void) => void;

/** One call's part of a transaction, and who waits for it. */
interface Part {
  work(transaction: object): void;
  kept(): void;
  lost(error: unknown): void;
}

/**
 * Waiting for the disk is what a durable write costs, and it costs the same for one as for a
 * hundred. So calls that come while the last transaction was written share the next one.
 */
export class SharedTransaction {
  private waiting: Part[] = [];
  private turn: NodeJS.Immediate | undefined;

  constructor(private readonly transact: Transact) {}

  /**
   * Durable when it resolves. The work may be done twice, but only once is it kept; what it learned
   * in a transaction holds for others in the same one.
   */
  join<T>(work: (transaction: object) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      this.waiting.push({
        work: (transaction) => {
          result = { value: work(transaction) };
        },
        kept: () => result && resolve(result.value),
        lost: reject,
      });
      this.turn ??= setImmediate(() => this.commit());
    });
  }

  /** Now, and not at the next turn: the database is about to be closed. */
  commit(): void {
    clearImmediate(this.turn);
    this.turn = undefined;
    const parts = this.waiting;
    this.waiting = [];
    if (parts.length === 1 || !this.keepAll(parts)) for (const part of parts) this.keep(part);
  }

  /** False when one of them failed and so all are undone. */
  private keepAll(parts: readonly Part[]): boolean {
    try {
      this.transact(() => {
        const transaction = {};
        for (const part of parts) part.work(transaction);
      });
    } catch {
      return false;
    }
    for (const part of parts) part.kept();
    return true;
  }

  /** By itself, so that what is wrong with one is nobody else's trouble. */
  private keep(part: Part): void {
    try {
      this.transact(() => part.work({}));
    } catch (error) {
      part.lost(error);
      return;
    }
    part.kept();
  }
}
