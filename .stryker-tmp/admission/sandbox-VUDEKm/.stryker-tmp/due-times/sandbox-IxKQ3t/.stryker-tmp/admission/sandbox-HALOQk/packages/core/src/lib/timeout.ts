/**
 * Calls `use` with a signal that aborts with `signal` or after `timeoutMs`. `AbortSignal.any` over
 * `AbortSignal.timeout` does not work here: up to Node 22, nothing keeps a reference to that timeout,
 * and after garbage collection it never fires.
 */
export async function withTimeout<T>(
  signal: AbortSignal,
  timeoutMs: number,
  use: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const end = () => limit.abort(signal.reason);
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await use(limit.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

export function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
