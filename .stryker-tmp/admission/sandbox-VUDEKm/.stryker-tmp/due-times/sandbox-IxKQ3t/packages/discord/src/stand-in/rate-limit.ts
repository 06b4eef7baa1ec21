export interface RateLimit {
  maxRequests: number;
  windowMs: number;
}

/** Counts the requests of each bucket and creates Discord's rate limit headers. */
export class RateLimiter {
  private readonly buckets = new Map<string, { since: number; used: number }>();
  /** Number of rejected requests. */
  rejectedCount = 0;

  constructor(private readonly rateLimit: RateLimit) {}

  take(bucket: string, now = Date.now()): { allowed: boolean; headers: Record<string, string> } {
    const { maxRequests, windowMs } = this.rateLimit;
    const bucketState = this.buckets.get(bucket);
    const isExpired = !bucketState || now - bucketState.since >= windowMs;
    const current = isExpired ? { since: now, used: 0 } : bucketState;
    this.buckets.set(bucket, current);
    const allowed = current.used < maxRequests;
    if (allowed) current.used += 1;
    else this.rejectedCount += 1;
    const remainingSeconds = (current.since + windowMs - now) / 1000;
    return {
      allowed,
      headers: {
        "x-ratelimit-limit": String(maxRequests),
        "x-ratelimit-remaining": String(maxRequests - current.used),
        "x-ratelimit-reset": String((now + remainingSeconds * 1000) / 1000),
        "x-ratelimit-reset-after": remainingSeconds.toFixed(3),
        "x-ratelimit-bucket": bucket.replaceAll("/", "-"),
        ...(allowed
          ? {}
          : { "retry-after": remainingSeconds.toFixed(3), "x-ratelimit-scope": "user" }),
      },
    };
  }
}
