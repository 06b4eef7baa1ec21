import type { ScreenSize } from "./page.ts";

export interface FullScreen {
  readonly size: ScreenSize;
  draw(lines: string[]): void;
  close(): void;
}

/** Alternate screen, no cursor, no wrapping: long lines are cut at the edge. */
const enterSequence = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const leaveSequence = "\x1b[?7h\x1b[?25h\x1b[?1049l";
const cursorHome = "\x1b[H";
const eraseLine = "\x1b[K";
const eraseBelow = "\x1b[J";

/** Takes over the terminal, and restores it when closed or when the process exits. */
export function openFullScreen(onInput: (typed: string) => void, onResize: () => void): FullScreen {
  const { stdin, stdout } = process;
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    process.off("exit", close);
    stdin.off("data", onInput);
    stdout.off("resize", onResize);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(leaveSequence);
  };
  process.on("exit", close);
  stdin.setRawMode(true).setEncoding("utf8").on("data", onInput).resume();
  stdout.on("resize", onResize);
  stdout.write(enterSequence);
  return {
    get size() {
      return { columns: stdout.columns, rows: stdout.rows };
    },
    draw: (lines) => {
      if (!isOpen) return;
      // Erased first: after a line of full width, the sequence would erase its last character.
      const shown = lines.slice(0, stdout.rows).map((line) => eraseLine + line);
      stdout.write(cursorHome + shown.join("\r\n") + eraseBelow);
    },
    close,
  };
}
