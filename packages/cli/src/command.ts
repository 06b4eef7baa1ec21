import type { Terminal } from "./terminal.ts";

/** A command as data: help, parsing and the reference page come from it; its code loads when run. */
export interface CommandSpec {
  /** Words as typed, such as `config check`. */
  name: string;
  summary: string;
  /** A last one called `name...` is all that follows `--`, as it was typed. */
  arguments?: ArgumentSpec[];
  options?: OptionSpec[];
  /** A line as it may be typed, with what comes of it behind a `#`. */
  examples?: string[];
  load: () => Promise<{ run: CommandRun }>;
}

interface OptionSpec {
  flags: string;
  summary: string;
  /** May be given several times; the values are joined with commas. */
  repeatable?: true;
}

interface ArgumentSpec {
  name: string;
  summary: string;
  /** It can be left out. */
  optional?: true;
}

type CommandRun = (call: Call) => Promise<number>;

export interface Call {
  arguments: (string | undefined)[];
  /** What was typed after `--`, for a command that takes it. */
  rest: string[];
  options: Options;
  cwd: string;
  env: NodeJS.ProcessEnv;
  terminal: Terminal;
}

/** What commander found: flags are booleans, options with a value are texts. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** The values of an option that may be given several times, or hold several with commas. */
export function listOption(options: Options, name: string): string[] {
  const words = (textOption(options, name) ?? "").split(",").map((word) => word.trim());
  return words.filter((word) => word !== "");
}

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
