import type { Key } from "./keys.ts";

export interface ScreenSize {
  columns: number;
  rows: number;
}

/** A full-screen page. */
export interface Page {
  render(size: ScreenSize, now: Date): string[];
  /** Handles a key. Returns whether to stay, go back or open another page. */
  onKey(key: Key): Promise<Navigation>;
  /** If present, receives the raw input instead of keys. */
  onInput?(text: string): Promise<Navigation>;
  /** The page is skipped when the user goes back to it. */
  readonly isDone?: boolean;
  close(): void;
}

export type Navigation = "stay" | "back" | Page;
