import { useSyncExternalStore } from "react";

/** `away`: the fleet stopped responding. `signed-out`: it responds, but rejects our session. */
export type ConnectionState = "connecting" | "live" | "away" | "signed-out";

let current: ConnectionState = "connecting";
const listeners = new Set<() => void>();

export function setConnection(next: ConnectionState): void {
  if (next === current) return;
  current = next;
  for (const listener of listeners) listener();
}

export function useConnection(): ConnectionState {
  return useSyncExternalStore(subscribe, () => current);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
