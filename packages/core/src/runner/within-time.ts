/**
 * Gives a signal that aborts with the given one, or when the time is over. Not `AbortSignal.any`
 * over `AbortSignal.timeout`: on Node 20 nothing holds on to that timeout, and once it has been
 * collected it never ends.
 */
export async function withinTime<T>(
  signal: AbortSignal,
  milliseconds: number,
  use: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const end = () => limit.abort(signal.reason);
  const timer = setTimeout(() => limit.abort(), milliseconds);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await use(limit.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
