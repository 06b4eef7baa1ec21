import { isStoreUnavailable, retry } from "../../lib/retry.ts";
import { ChatError } from "./connector.ts";

const initialDelayMs = 500;
const maxDelayMs = 30_000;

/** Retries until the work succeeds, fails permanently, or is aborted. */
export function retryChatCall<T>(
  work: (attempt: number) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const shouldRetry = (error: unknown) => !(error instanceof ChatError) || error.isTransient;
  return retry(work, { shouldRetry, delayMs: backoffMs, signal });
}

/** Retries while the store cannot be written: a full disk delays a record but does not lose it. */
export function retryWhileStoreUnavailable<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return retry(work, { shouldRetry: isStoreUnavailable, delayMs: backoffMs, signal });
}

function backoffMs(attempt: number): number {
  return Math.min(initialDelayMs * 2 ** attempt, maxDelayMs);
}
