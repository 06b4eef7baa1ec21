const window = 60_000;
const most = 10;
const addresses = 1_000;

/** How often somebody came with a wrong token, by address. Who has a good cookie is not asked. */
export class Failures {
  readonly #seen = new Map<string, { count: number; since: number }>();

  isTooMany(address: string, now: Date): boolean {
    const seen = this.#seen.get(this.#nameOf(address));
    return seen !== undefined && now.getTime() - seen.since < window && seen.count >= most;
  }

  count(address: string, now: Date): void {
    const name = this.#nameOf(address);
    const seen = this.#seen.get(name);
    const isOld = !seen || now.getTime() - seen.since >= window;
    this.#seen.set(
      name,
      isOld ? { count: 1, since: now.getTime() } : { ...seen, count: seen.count + 1 },
    );
    if (this.#seen.size >= addresses) this.#forget(now);
  }

  /** More addresses than this are counted as one. */
  #nameOf(address: string): string {
    return this.#seen.has(address) || this.#seen.size < addresses ? address : "others";
  }

  #forget(now: Date): void {
    for (const [name, { since }] of this.#seen) {
      if (now.getTime() - since >= window) this.#seen.delete(name);
    }
  }
}
