import type { IncomingHttpHeaders } from "node:http";

/** A rate limit reported by a response. Times are milliseconds since the epoch. */
export interface RateLimit {
  status: number;
  at: number;
  retryAfterMs?: number;
  resetsAt?: number;
  /** Only for subscriptions: `allowed`, `allowed_warning` or `rejected`. */
  unifiedStatus?: string;
  /** The subscription window that was exceeded, such as `five_hour`. */
  claim?: string;
}

/** Reads a rejection because of load or limits; undefined for any other response. */
export function readRateLimit(
  status: number,
  headers: IncomingHttpHeaders,
  now: number,
): RateLimit | undefined {
  if (!rateLimitStatuses.has(status)) return undefined;
  return {
    status,
    at: now,
    retryAfterMs: parseRetryAfterMs(headers, now),
    resetsAt: resetsAt(headers, now),
    unifiedStatus: readHeader(headers, "anthropic-ratelimit-unified-status"),
    claim: readHeader(headers, "anthropic-ratelimit-unified-representative-claim"),
  };
}

const rateLimitStatuses = new Set([429, 503, 529]);
const rateLimitBuckets = ["requests", "tokens", "input-tokens", "output-tokens"];

/**
 * When a request may succeed again: the subscription's reset if there is one, otherwise the latest of
 * `retry-after` and the resets of exhausted buckets.
 */
export function resetsAt(headers: IncomingHttpHeaders, now: number): number | undefined {
  const unified = readTimeHeader(headers, "anthropic-ratelimit-unified-reset");
  const rejected = readHeader(headers, "anthropic-ratelimit-unified-status") === "rejected";
  if (rejected && unified !== undefined) return unified;

  const waitMs = parseRetryAfterMs(headers, now);
  const known = rateLimitBuckets
    .filter((bucket) => readHeader(headers, `anthropic-ratelimit-${bucket}-remaining`) === "0")
    .map((bucket) => readTimeHeader(headers, `anthropic-ratelimit-${bucket}-reset`))
    .concat(waitMs === undefined ? [] : now + waitMs)
    .filter((moment) => moment !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function parseRetryAfterMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const value = readHeader(headers, "retry-after");
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}

/** Buckets use RFC 3339 times, subscriptions use seconds since the epoch. */
function readTimeHeader(headers: IncomingHttpHeaders, name: string): number | undefined {
  const value = readHeader(headers, name);
  if (value === undefined) return undefined;
  const moment = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value);
  return Number.isNaN(moment) ? undefined : moment;
}

function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
