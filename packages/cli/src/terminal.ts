import { isatty } from "node:tty";
import colors from "picocolors";
import { jsonText } from "./show/json-text.ts";

/** Where a command speaks: people on a terminal, or one JSON value for a program. */
export interface Terminal {
  json: boolean;
  interactive: boolean;
  /** Whether lines can be drawn again: a person looks at a screen that knows how. */
  live: boolean;
  /** How wide the screen is; undefined when the output goes to a file or a program. */
  readonly columns: number | undefined;
  colors: ReturnType<typeof colors.createColors>;
  print(line: string): void;
  /** Without a line's end, as drawing needs it. */
  write(text: string): void;
  /** Notes beside the result; they never mix with what a program reads. */
  note(line: string): void;
  printJson(value: unknown): void;
}

export function openTerminal(json: boolean): Terminal {
  const { stdout, stderr } = process;
  const isScreen = stdout.isTTY === true;
  const seen = isScreen && stderr.isTTY === true;
  // Whoever read us may be gone, as with `| head`; that is no reason to leave an agent alone.
  for (const stream of [stdout, stderr]) stream.on("error", () => undefined);
  return {
    json,
    // The input itself is not opened: few commands read it.
    interactive: isScreen && isatty(0),
    live: isScreen && !json && process.env.TERM !== "dumb",
    get columns() {
      return stdout.columns;
    },
    colors: colors.createColors(colors.isColorSupported && seen && !json),
    print: (line) => stdout.write(`${line}\n`),
    write: (text) => stdout.write(text),
    note: (line) => stderr.write(`${line}\n`),
    printJson: (value) => stdout.write(`${jsonText(value, 2)}\n`),
  };
}
