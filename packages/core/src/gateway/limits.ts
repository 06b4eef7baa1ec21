import type { IncomingHttpHeaders } from "node:http";

/** What an answer says about limits; times are milliseconds since the epoch. */
export interface RateLimit {
  status: number;
  at: number;
  retryAfterMs?: number;
  resetsAt?: number;
  /** Of a subscription: `allowed`, `allowed_warning` or `rejected`. */
  unifiedStatus?: string;
  /** Which window of a subscription was hit, such as `five_hour`. */
  claim?: string;
}

/** A refusal for load or limits, with when to come back. Undefined for any other answer. */
export function readRateLimit(
  status: number,
  headers: IncomingHttpHeaders,
  now: number,
): RateLimit | undefined {
  if (!limitingStatuses.has(status)) return undefined;
  return {
    status,
    at: now,
    retryAfterMs: retryAfter(headers, now),
    resetsAt: resetsAt(headers, now),
    unifiedStatus: text(headers, "anthropic-ratelimit-unified-status"),
    claim: text(headers, "anthropic-ratelimit-unified-representative-claim"),
  };
}

const limitingStatuses = new Set([429, 503, 529]);
const buckets = ["requests", "tokens", "input-tokens", "output-tokens"];

/**
 * When a request may succeed again: a subscription's own reset before all else, then the latest of
 * `retry-after` and the resets of the buckets that are empty.
 */
export function resetsAt(headers: IncomingHttpHeaders, now: number): number | undefined {
  const unified = time(headers, "anthropic-ratelimit-unified-reset");
  const rejected = text(headers, "anthropic-ratelimit-unified-status") === "rejected";
  if (rejected && unified !== undefined) return unified;

  const wait = retryAfter(headers, now);
  const known = buckets
    .filter((bucket) => text(headers, `anthropic-ratelimit-${bucket}-remaining`) === "0")
    .map((bucket) => time(headers, `anthropic-ratelimit-${bucket}-reset`))
    .concat(wait === undefined ? [] : now + wait)
    .filter((moment) => moment !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function retryAfter(headers: IncomingHttpHeaders, now: number): number | undefined {
  const value = text(headers, "retry-after");
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}

/** Buckets give RFC 3339 times, a subscription seconds since the epoch. */
function time(headers: IncomingHttpHeaders, name: string): number | undefined {
  const value = text(headers, name);
  if (value === undefined) return undefined;
  const moment = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value);
  return Number.isNaN(moment) ? undefined : moment;
}

function text(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
