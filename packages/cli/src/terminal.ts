import colors from "picocolors";

/** Where a command speaks: people on a terminal, or one JSON value for a program. */
export interface Terminal {
  json: boolean;
  interactive: boolean;
  /** How wide the screen is; undefined when the output goes to a file or a program. */
  columns: number | undefined;
  colors: ReturnType<typeof colors.createColors>;
  print(line: string): void;
  /** Notes beside the result; they never mix with what a program reads. */
  note(line: string): void;
  printJson(value: unknown): void;
}

export function openTerminal(json: boolean): Terminal {
  const { stdin, stdout, stderr } = process;
  const seen = stdout.isTTY === true && stderr.isTTY === true;
  return {
    json,
    interactive: stdin.isTTY === true && stdout.isTTY === true,
    columns: stdout.columns,
    colors: colors.createColors(colors.isColorSupported && seen && !json),
    print: (line) => stdout.write(`${line}\n`),
    note: (line) => stderr.write(`${line}\n`),
    printJson: (value) => stdout.write(`${JSON.stringify(value, null, 2)}\n`),
  };
}
