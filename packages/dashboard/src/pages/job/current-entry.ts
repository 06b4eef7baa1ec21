import { useSyncExternalStore } from "react";

/** The entry at the top of the conversation view. Not React state, because it changes on every scroll. */
export class CurrentEntry {
  private key: string | undefined;
  private readonly listeners = new Set<() => void>();

  set = (key: string): void => {
    if (key === this.key) return;
    this.key = key;
    for (const listener of this.listeners) listener();
  };

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  get = (): string | undefined => this.key;
}

export function useCurrentEntryKey(currentEntry: CurrentEntry): string | undefined {
  return useSyncExternalStore(currentEntry.subscribe, currentEntry.get);
}
