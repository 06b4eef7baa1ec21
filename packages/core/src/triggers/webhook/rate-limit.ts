/** A bucket for each name: it holds a minute's worth and fills steadily. */
export class RateLimit {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  /** Undefined when there was room; else after how many seconds there is. */
  take(name: string, perMinute: number, now: Date): number | undefined {
    const at = now.getTime();
    const last = this.#buckets.get(name) ?? { tokens: perMinute, at };
    const refilled = last.tokens + (Math.max(0, at - last.at) / 60_000) * perMinute;
    const tokens = Math.min(perMinute, refilled);
    const isRoom = tokens >= 1;
    this.#buckets.set(name, { tokens: isRoom ? tokens - 1 : tokens, at });
    return isRoom ? undefined : Math.ceil(((1 - tokens) / perMinute) * 60);
  }
}
