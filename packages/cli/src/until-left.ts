/** Aborts at Ctrl-C, and when nobody reads us any more. */
export function untilLeft(): { signal: AbortSignal; dispose(): void } {
  const left = new AbortController();
  const leave = () => left.abort();
  process.once("SIGINT", leave);
  process.stdout.once("error", leave);
  const dispose = () => {
    process.off("SIGINT", leave);
    process.stdout.off("error", leave);
  };
  return { signal: left.signal, dispose };
}
