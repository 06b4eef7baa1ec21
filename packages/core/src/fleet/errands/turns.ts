/** Lets one thing be done after the other. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}
