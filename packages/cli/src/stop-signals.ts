/** The reason that the runner receives. */
type StopReason = "cancelled" | "interrupted";

export interface StopSignals {
  /** Aborted by the first stop signal. */
  signal: AbortSignal;
  /** Resolved by the second stop signal. */
  forced: Promise<void>;
  dispose(): void;
}

const stopReasons: Partial<Record<NodeJS.Signals, StopReason>> = {
  SIGINT: "cancelled",
  SIGTERM: "interrupted",
  SIGHUP: "interrupted",
};

/** The first signal requests a stop, the second forces it, a third has its default effect. */
export function listenForStopSignals(onFirstSignal: (reason: StopReason) => void): StopSignals {
  const stopController = new AbortController();
  let force = () => {};
  const forced = new Promise<void>((resolve) => {
    force = resolve;
  });
  const listeners = Object.entries(stopReasons).map(([name, reason]) => {
    const listener = () => {
      if (stopController.signal.aborted) {
        dispose();
        return force();
      }
      stopController.abort(reason);
      onFirstSignal(reason);
    };
    return { name, listener };
  });
  const dispose = () => {
    for (const { name, listener } of listeners) process.off(name, listener);
  };
  for (const { name, listener } of listeners) process.on(name, listener);
  return { signal: stopController.signal, forced, dispose };
}
