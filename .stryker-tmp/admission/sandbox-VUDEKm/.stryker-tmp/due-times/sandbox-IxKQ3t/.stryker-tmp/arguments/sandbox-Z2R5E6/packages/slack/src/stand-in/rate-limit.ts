export interface RateLimit {
  maxRequests: number;
  windowMs: number;
}

/** Counts the calls of each method and returns the seconds to wait if there were too many. */
export class RateLimiter {
  private readonly calls = new Map<string, number[]>();
  /** Number of rejected calls. */
  rejectedCount = 0;

  constructor(private readonly limits: Record<string, RateLimit>) {}

  retryAfterSeconds(method: string, now = Date.now()): number | undefined {
    const limit = this.limits[method];
    if (!limit) return undefined;
    const recent = (this.calls.get(method) ?? []).filter((at) => now - at < limit.windowMs);
    this.calls.set(method, recent);
    const [oldest] = recent;
    if (oldest === undefined || recent.length < limit.maxRequests) {
      recent.push(now);
      return undefined;
    }
    this.rejectedCount += 1;
    return Math.max(1, Math.ceil((oldest + limit.windowMs - now) / 1000));
  }
}
