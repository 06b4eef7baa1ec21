/** Where lines go while something is under way. */
export interface Screen {
  /** Lines that stay, and lines below them that vanish when the next ones come. */
  show(lines: string[], below: string[]): void;
  close(): void;
}

/** A file or a program reads along: only what stays. */
export function plainScreen(print: (line: string) => void): Screen {
  return { show: (lines) => lines.forEach(print), close: () => undefined };
}

const up = "\x1b[1A";
const eraseBelow = "\r\x1b[0J";
const hideCursor = "\x1b[?25l";
const showCursor = "\x1b[?25h";

/** A terminal. No line below may be wider than the screen, or it could not be erased. */
export function liveScreen(write: (text: string) => void): Screen {
  let drawn = 0;
  const show = (lines: string[], below: string[]) => {
    const erase = drawn === 0 ? "" : up.repeat(drawn - 1) + eraseBelow;
    const cursor = below.length === 0 ? showCursor : hideCursor;
    drawn = below.length;
    write(cursor + erase + lines.map((line) => `${line}\n`).join("") + below.join("\n"));
  };
  return { show, close: () => show([], []) };
}
