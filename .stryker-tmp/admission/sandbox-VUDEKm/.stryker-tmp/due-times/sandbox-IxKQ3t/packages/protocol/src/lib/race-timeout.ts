/** The result of `promise`, or of `onTimeout` if it takes longer than that. */
export async function raceTimeout<T, U>(
  promise: Promise<T>,
  timeoutMs: number,
  onTimeout: () => U,
  { unref = false } = {},
): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
    if (unref) timer.unref();
  }).then(onTimeout);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
