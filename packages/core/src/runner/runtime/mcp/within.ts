/** The promise, unless time or patience is over first. */
export async function within<T>(
  promise: Promise<T>,
  milliseconds: number,
  reason: string,
  signal: AbortSignal,
): Promise<T> {
  let stop: () => void = () => undefined;
  const over = new Promise<never>((_, reject) => {
    const late = () => reject(new Error(reason));
    const timer = setTimeout(late, milliseconds);
    const aborted = () => reject(new Error("the run is over"));
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
    };
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    stop();
  }
}
