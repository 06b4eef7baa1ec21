export interface RateLimit {
  requests: number;
  milliseconds: number;
}

/** Counts the requests to each bucket and says, as Discord does, how many are left. */
export class RateLimits {
  private readonly buckets = new Map<string, { since: number; used: number }>();
  /** How often somebody asked too much. */
  refused = 0;

  constructor(private readonly limit: RateLimit) {}

  ask(bucket: string, now = Date.now()): { allowed: boolean; headers: Record<string, string> } {
    const { requests, milliseconds } = this.limit;
    const known = this.buckets.get(bucket);
    const isOver = !known || now - known.since >= milliseconds;
    const current = isOver ? { since: now, used: 0 } : known;
    this.buckets.set(bucket, current);
    const allowed = current.used < requests;
    if (allowed) current.used += 1;
    else this.refused += 1;
    const left = (current.since + milliseconds - now) / 1000;
    return {
      allowed,
      headers: {
        "x-ratelimit-limit": String(requests),
        "x-ratelimit-remaining": String(requests - current.used),
        "x-ratelimit-reset": String((now + left * 1000) / 1000),
        "x-ratelimit-reset-after": left.toFixed(3),
        "x-ratelimit-bucket": bucket.replaceAll("/", "-"),
        ...(allowed ? {} : { "retry-after": left.toFixed(3), "x-ratelimit-scope": "user" }),
      },
    };
  }
}
