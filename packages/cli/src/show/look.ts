import type { Terminal } from "../terminal.ts";

/** How things are to be shown; all that a pure renderer needs to know of the terminal. */
export interface Look {
  colors: Terminal["colors"];
  /** Columns of the screen; undefined when there is none, and lines may be as long as they are. */
  width: number | undefined;
}

export function lookOf(terminal: Terminal): Look {
  return { colors: terminal.colors, width: terminal.columns };
}

/** How long a line may get that is shortened even where there is no screen. */
export const widthInFile = 160;
