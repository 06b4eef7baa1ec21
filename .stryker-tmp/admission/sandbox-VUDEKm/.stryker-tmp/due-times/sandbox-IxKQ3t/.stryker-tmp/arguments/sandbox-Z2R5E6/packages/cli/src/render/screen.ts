/** Output of a running operation. */
export interface Screen {
  /** Prints lines that stay, and a footer that the next call replaces. */
  show(lines: string[], footer: string[]): void;
  close(): void;
}

/** For a file or a program: without footers. */
export function createPlainScreen(print: (line: string) => void): Screen {
  return { show: (lines) => lines.forEach(print), close: () => undefined };
}

const cursorUp = "\x1b[1A";
const eraseBelow = "\r\x1b[0J";
const hideCursor = "\x1b[?25l";
const showCursor = "\x1b[?25h";

/** For a terminal. A footer line that is wider than the screen could not be erased. */
export function createLiveScreen(write: (text: string) => void): Screen {
  let footerHeight = 0;
  const show = (lines: string[], footer: string[]) => {
    const erase = footerHeight === 0 ? "" : cursorUp.repeat(footerHeight - 1) + eraseBelow;
    const cursor = footer.length === 0 ? showCursor : hideCursor;
    footerHeight = footer.length;
    write(cursor + erase + lines.map((line) => `${line}\n`).join("") + footer.join("\n"));
  };
  return { show, close: () => show([], []) };
}
