/** Runs async work one call at a time, in call order. */
export class Mutex {
  private tail: Promise<unknown> = Promise.resolve();

  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.tail.then(work);
    this.tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves after the calls so far, whatever their results. */
  async whenIdle(): Promise<void> {
    await this.tail;
  }
}
