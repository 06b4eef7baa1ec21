import type { Terminal } from "../terminal.ts";

/** The properties of the terminal that renderers need. */
export interface TerminalStyle {
  colors: Terminal["colors"];
  /** Columns of the terminal; undefined if the output is not a terminal and lines are not wrapped. */
  width: number | undefined;
}

export function terminalStyleOf(terminal: Terminal): TerminalStyle {
  return { colors: terminal.colors, width: terminal.columns };
}

/** Maximum length of truncated lines if the output is not a terminal. */
export const fallbackWidthColumns = 160;
