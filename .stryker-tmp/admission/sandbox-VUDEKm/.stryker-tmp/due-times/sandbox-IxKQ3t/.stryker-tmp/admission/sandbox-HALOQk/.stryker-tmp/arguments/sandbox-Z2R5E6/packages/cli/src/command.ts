import type { Terminal } from "./terminal.ts";

/** A command as data. Help, parsing and the reference page use it; `load` imports the code. */
export interface CommandSpec {
  /** Words as typed, such as `config check`. */
  name: string;
  summary: string;
  /** A last argument named `name...` receives everything after `--`. */
  arguments?: ArgumentSpec[];
  options?: OptionSpec[];
  /** Complete command lines, each with an optional explanation after `#`. */
  examples: string[];
  load: () => Promise<{ run: CommandHandler }>;
}

interface OptionSpec {
  flags: string;
  summary: string;
  /** Can be repeated; the values are joined with commas. */
  repeatable?: true;
}

interface ArgumentSpec {
  name: string;
  summary: string;
  optional?: true;
}

type CommandHandler = (context: CommandContext) => Promise<number>;

export interface CommandContext {
  arguments: (string | undefined)[];
  /** The arguments after `--`, for a command that takes them. */
  passthroughArgs: string[];
  options: ParsedOptions;
  cwd: string;
  env: NodeJS.ProcessEnv;
  terminal: Terminal;
}

/** Options as parsed by commander: flags are booleans, options with a value are strings. */
export type ParsedOptions = Readonly<Record<string, string | boolean | undefined>>;

/** The values of an option that can be repeated or contain a comma-separated list. */
export function listOption(options: ParsedOptions, name: string): string[] {
  const words = (textOption(options, name) ?? "").split(",").map((word) => word.trim());
  return words.filter((word) => word !== "");
}

export function textOption(options: ParsedOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
