/** A credential with the time at which it expires, if that is known. */
export interface Expiring<T> {
  value: T;
  expiresAt?: number;
}

/** Fetched again this long before it expires, so that no request carries an expired one. */
const renewBeforeMs = 5 * 60_000;

/** Keeps a credential until shortly before it expires. Concurrent callers share one fetch. */
export class RenewableCredential<T> {
  private held: Expiring<T> | undefined;
  private fetching: Promise<T> | undefined;

  constructor(
    private readonly fetch: () => Promise<Expiring<T>>,
    private readonly now: () => number = Date.now,
  ) {}

  /** The last fetched value, even if it has expired. */
  get current(): T | undefined {
    return this.held?.value;
  }

  get(): Promise<T> {
    if (this.held && !this.expiresSoon(this.held)) return Promise.resolve(this.held.value);
    this.fetching ??= this.fetchOnce().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  /** The next call fetches it again. */
  drop(): void {
    if (this.held) this.held = { ...this.held, expiresAt: 0 };
  }

  private async fetchOnce(): Promise<T> {
    this.held = await this.fetch();
    return this.held.value;
  }

  private expiresSoon({ expiresAt }: Expiring<T>): boolean {
    return expiresAt !== undefined && this.now() >= expiresAt - renewBeforeMs;
  }
}
