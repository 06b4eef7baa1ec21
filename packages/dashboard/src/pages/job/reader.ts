import { useSyncExternalStore } from "react";

/** Which entry of the conversation is read now. Kept apart: it changes with every scroll. */
export class Reader {
  private key: string | undefined;
  private readonly listeners = new Set<() => void>();

  see = (key: string): void => {
    if (key === this.key) return;
    this.key = key;
    for (const listener of this.listeners) listener();
  };

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  seen = (): string | undefined => this.key;
}

export function useReadKey(reader: Reader): string | undefined {
  return useSyncExternalStore(reader.subscribe, reader.seen);
}
