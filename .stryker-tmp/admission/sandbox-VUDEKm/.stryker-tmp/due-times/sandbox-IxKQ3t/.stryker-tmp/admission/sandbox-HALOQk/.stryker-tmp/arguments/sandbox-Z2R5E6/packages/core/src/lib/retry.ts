import { setTimeout as delay } from "node:timers/promises";
import { hasErrorCode, UserError } from "@herdctl/protocol";

interface RetryOptions {
  shouldRetry(error: unknown): boolean;
  delayMs(attempt: number): number;
  signal?: AbortSignal;
}

/** Retries until the work succeeds, fails permanently, or is aborted. */
export async function retry<T>(
  work: (attempt: number) => Promise<T>,
  { shouldRetry, delayMs, signal }: RetryOptions,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (signal?.aborted || !shouldRetry(error)) throw error;
      await delay(delayMs(attempt), undefined, { signal });
    }
  }
}

export function isStoreUnavailable(
  error: unknown,
): error is UserError & { code: "state_unavailable" } {
  return error instanceof UserError && error.code === "state_unavailable";
}

const retryDelayMs = 1_000;

/** Retries a write until it succeeds: a full disk delays it instead of losing it. */
export async function retryWhileUnavailable<T>(
  store: { setStoreProblem(problem: string | undefined): void },
  write: () => Promise<T>,
): Promise<T> {
  const shouldRetry = (error: unknown) => {
    const reason = unavailableReason(error);
    if (reason !== undefined) store.setStoreProblem(reason);
    return reason !== undefined;
  };
  const result = await retry(write, { shouldRetry, delayMs: () => retryDelayMs });
  store.setStoreProblem(undefined);
  return result;
}

/** Error codes of a disk that may accept writes again later. */
const transientDiskErrors = ["ENOSPC", "EDQUOT", "EROFS", "EIO"];

/** Why the database or the job's files cannot be written; undefined for any other error. */
function unavailableReason(error: unknown): string | undefined {
  if (isStoreUnavailable(error)) return error.message;
  return error instanceof Error && hasErrorCode(error, ...transientDiskErrors)
    ? `the job's files cannot be written: ${error.message}`
    : undefined;
}
