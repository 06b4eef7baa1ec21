import { isatty } from "node:tty";
import colors from "picocolors";
import { toTerminalJson } from "./render/terminal-json.ts";

/** The output of a command: text for people, or one JSON value for a program. */
export interface Terminal {
  isJson: boolean;
  isInteractive: boolean;
  /** Whether standard output is a terminal that can redraw lines. */
  canRedraw: boolean;
  /** Width of the terminal; undefined if the output goes to a file or a program. */
  readonly columns: number | undefined;
  colors: ReturnType<typeof colors.createColors>;
  print(line: string): void;
  /** Writes text without a line break. */
  write(text: string): void;
  /** Prints to standard error, so that programs do not read it as part of the result. */
  printNote(line: string): void;
  printJson(value: unknown): void;
}

export function openTerminal(json: boolean): Terminal {
  const { stdout, stderr } = process;
  const isScreen = stdout.isTTY === true;
  const isVisible = isScreen && stderr.isTTY === true;
  // The reader may have closed the pipe, as `head` does: keep running for the sake of the agent.
  for (const stream of [stdout, stderr]) stream.on("error", () => undefined);
  return {
    isJson: json,
    // `isatty` does not open standard input, which few commands read.
    isInteractive: isScreen && isatty(0),
    canRedraw: isScreen && !json && process.env.TERM !== "dumb",
    get columns() {
      return stdout.columns;
    },
    colors: colors.createColors(colors.isColorSupported && (isVisible || isColorForced()) && !json),
    print: (line) => stdout.write(`${line}\n`),
    write: (text) => stdout.write(text),
    printNote: (line) => stderr.write(`${line}\n`),
    printJson: (value) => stdout.write(`${toTerminalJson(value, 2)}\n`),
  };
}

function isColorForced(): boolean {
  const { FORCE_COLOR: force = "" } = process.env;
  return force !== "" && force !== "0";
}
