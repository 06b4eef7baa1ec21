/** Aborts on Ctrl-C, or when the reader of standard output has closed it. */
export function createExitSignal(): { signal: AbortSignal; dispose(): void } {
  const abortController = new AbortController();
  const abort = () => abortController.abort();
  process.once("SIGINT", abort);
  process.stdout.once("error", abort);
  const dispose = () => {
    process.off("SIGINT", abort);
    process.stdout.off("error", abort);
  };
  return { signal: abortController.signal, dispose };
}
