import colors from "picocolors";

/** Where a command speaks: people on a terminal, or one JSON value for a program. */
export interface Terminal {
  json: boolean;
  interactive: boolean;
  colors: ReturnType<typeof colors.createColors>;
  print(line: string): void;
  /** Notes beside the result; they never mix with what a program reads. */
  note(line: string): void;
  printJson(value: unknown): void;
}

export function openTerminal(json: boolean): Terminal {
  const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true;
  return {
    json,
    interactive,
    colors: colors.createColors(colors.isColorSupported && process.stdout.isTTY === true && !json),
    print: (line) => process.stdout.write(`${line}\n`),
    note: (line) => process.stderr.write(`${line}\n`),
    printJson: (value) => process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
  };
}
