const windowMs = 60_000;
const maxFailures = 10;
const maxAddresses = 1_000;

/**
 * Counts wrong tokens and login links by address. It only decides how a wrong one is answered: a
 * right one is never counted and never refused, so that no one can lock others out.
 */
export class Failures {
  readonly #seen = new Map<string, { count: number; since: number }>();

  /** Counts one more; true when there were too many in a minute. */
  count(address: string, now: Date): boolean {
    const name = this.#nameOf(address);
    const seen = this.#seen.get(name);
    const isOld = !seen || now.getTime() - seen.since >= windowMs;
    const counted = isOld ? { count: 1, since: now.getTime() } : { ...seen, count: seen.count + 1 };
    this.#seen.set(name, counted);
    if (this.#seen.size >= maxAddresses) this.#forget(now);
    return counted.count > maxFailures;
  }

  /** More addresses than this are counted as one. */
  #nameOf(address: string): string {
    return this.#seen.has(address) || this.#seen.size < maxAddresses ? address : "others";
  }

  #forget(now: Date): void {
    for (const [name, { since }] of this.#seen) {
      if (now.getTime() - since >= windowMs) this.#seen.delete(name);
    }
  }
}
