const windowMs = 60_000;
const maxFailures = 10;
const maxAddresses = 1_000;

/**
 * Counts invalid tokens and login links per address. The count only affects the response to invalid
 * attempts: valid credentials are always accepted, so that no one can lock others out.
 */
export class AuthFailureCounter {
  readonly #failuresByAddress = new Map<string, { count: number; since: number }>();

  /** Counts one failure; true if there were too many within a minute. */
  count(address: string, now: Date): boolean {
    const key = this.#keyFor(address);
    const previous = this.#failuresByAddress.get(key);
    const isExpired = !previous || now.getTime() - previous.since >= windowMs;
    const counted = isExpired
      ? { count: 1, since: now.getTime() }
      : { ...previous, count: previous.count + 1 };
    this.#failuresByAddress.set(key, counted);
    if (this.#failuresByAddress.size >= maxAddresses) this.#removeExpired(now);
    // defence: token-failure-limit
    return counted.count > maxFailures;
  }

  /** Once the map is full, all new addresses share one key. */
  #keyFor(address: string): string {
    return this.#failuresByAddress.has(address) || this.#failuresByAddress.size < maxAddresses
      ? address
      : "others";
  }

  #removeExpired(now: Date): void {
    for (const [key, { since }] of this.#failuresByAddress) {
      if (now.getTime() - since >= windowMs) this.#failuresByAddress.delete(key);
    }
  }
}
