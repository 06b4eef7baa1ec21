/** Why somebody wants it to stop, in the words of the runner. */
type StopWish = "cancelled" | "interrupted";

export interface StopSignals {
  /** Aborted at the first wish. */
  signal: AbortSignal;
  /** Settled at the second. */
  forced: Promise<void>;
  dispose(): void;
}

const wishes: Partial<Record<NodeJS.Signals, StopWish>> = {
  SIGINT: "cancelled",
  SIGTERM: "interrupted",
  SIGHUP: "interrupted",
};

/** The first signal asks, the second forces, a third has its usual effect. */
export function listenForStop(onAsk: () => void): StopSignals {
  const asked = new AbortController();
  let force = () => {};
  const forced = new Promise<void>((resolve) => {
    force = resolve;
  });
  const listeners = Object.entries(wishes).map(([name, wish]) => {
    const listener = () => {
      if (asked.signal.aborted) {
        dispose();
        return force();
      }
      asked.abort(wish);
      onAsk();
    };
    return { name, listener };
  });
  const dispose = () => {
    for (const { name, listener } of listeners) process.off(name, listener);
  };
  for (const { name, listener } of listeners) process.on(name, listener);
  return { signal: asked.signal, forced, dispose };
}
