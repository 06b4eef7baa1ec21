import type { Size } from "./page.ts";

export interface FullScreen {
  readonly size: Size;
  draw(lines: string[]): void;
  close(): void;
}

/** Alternate screen, no cursor, no wrapping: a line that is too long ends at the edge. */
const enter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const leave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
const home = "\x1b[H";
const eraseLine = "\x1b[K";
const eraseBelow = "\x1b[J";

/** Takes the whole terminal, and gives it back as it was however the process ends. */
export function openFullScreen(onType: (typed: string) => void, onResize: () => void): FullScreen {
  const { stdin, stdout } = process;
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    process.off("exit", close);
    stdin.off("data", onType);
    stdout.off("resize", onResize);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(leave);
  };
  process.on("exit", close);
  stdin.setRawMode(true).setEncoding("utf8").on("data", onType).resume();
  stdout.on("resize", onResize);
  stdout.write(enter);
  return {
    get size() {
      return { columns: stdout.columns, rows: stdout.rows };
    },
    draw: (lines) => {
      if (!isOpen) return;
      const shown = lines.slice(0, stdout.rows).map((line) => line + eraseLine);
      stdout.write(home + shown.join("\r\n") + eraseBelow);
    },
    close,
  };
}
