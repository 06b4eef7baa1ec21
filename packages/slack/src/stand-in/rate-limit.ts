export interface RateLimit {
  requests: number;
  milliseconds: number;
}

/** Counts the calls of each method; says how many seconds to wait when there were too many. */
export class RateLimits {
  private readonly calls = new Map<string, number[]>();
  /** How often somebody asked too much. */
  refused = 0;

  constructor(private readonly limits: Record<string, RateLimit>) {}

  ask(method: string, now = Date.now()): number | undefined {
    const limit = this.limits[method];
    if (!limit) return undefined;
    const recent = (this.calls.get(method) ?? []).filter((at) => now - at < limit.milliseconds);
    this.calls.set(method, recent);
    const [oldest] = recent;
    if (oldest === undefined || recent.length < limit.requests) {
      recent.push(now);
      return undefined;
    }
    this.refused += 1;
    return Math.max(1, Math.ceil((oldest + limit.milliseconds - now) / 1000));
  }
}
