import type { Key } from "./keys.ts";

export interface Size {
  columns: number;
  rows: number;
}

/** One thing that fills the screen. */
export interface Page {
  lines(size: Size, now: Date): string[];
  /** What a key does: nothing to the pages, leave this one, or put another over it. */
  press(key: Key): Promise<Move>;
  /** Takes all that is typed as it comes, in the place of keys. */
  type?(text: string): Promise<Move>;
  /** There is nothing to come back to. */
  readonly isOver?: boolean;
  close(): void;
}

export type Move = "stay" | "back" | Page;
