import type { CommandSpec } from "../command.ts";
import { commandGroups } from "../commands.ts";

export interface Candidate {
  value: string;
  summary: string;
}

/** The completions at the cursor: fixed words, and kinds of names to read from the fleet. */
export interface CompletionContext {
  candidates: Candidate[];
  kinds: string[];
  /** The arguments before the cursor, without commands and options. */
  args: string[];
  config: string | undefined;
}

interface Option {
  names: string[];
  takesValue: boolean;
  summary: string;
}

/** Analyzes the words by the command table. The last word, which may be empty, is to be completed. */
export function analyzeCommandLine(
  commands: readonly CommandSpec[],
  words: readonly string[],
): CompletionContext {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const { path, args, options, optionAwaitingValue, config } = parseWords(commands, typed);
  const toContext = (candidates: Candidate[], kinds: string[]): CompletionContext => ({
    candidates: candidates.filter(({ value }) => value.startsWith(current)),
    kinds,
    args,
    config,
  });
  if (optionAwaitingValue) return toContext([], [optionValueKind(optionAwaitingValue, path)]);
  if (current.startsWith("-")) return toContext(options.flatMap(optionCandidates), []);
  const spec = commands.find(({ name }) => name === path.join(" "));
  const argument = spec?.arguments?.[args.length]?.name;
  const subcommandCandidates = args.length === 0 ? subcommands(commands, path) : [];
  return toContext(
    subcommandCandidates,
    argument === undefined ? [] : argumentKinds(argument, path),
  );
}

interface ParsedWords {
  path: string[];
  args: string[];
  options: Option[];
  /** The option whose value is the next word. */
  optionAwaitingValue: Option | undefined;
  config: string | undefined;
}

function parseWords(commands: readonly CommandSpec[], typed: readonly string[]): ParsedWords {
  const parsed: ParsedWords = {
    path: [],
    args: [],
    options: listOptions(commands, []),
    optionAwaitingValue: undefined,
    config: undefined,
  };
  for (const word of typed) {
    if (parsed.optionAwaitingValue) {
      if (parsed.optionAwaitingValue.names.includes("--config")) parsed.config = word;
      parsed.optionAwaitingValue = undefined;
    } else if (word.startsWith("-") && word !== "-") {
      parsed.optionAwaitingValue = parsed.options.find(
        (option) => option.takesValue && option.names.includes(word),
      );
    } else if (parsed.args.length === 0 && isCommand(commands, [...parsed.path, word])) {
      parsed.path.push(word);
      parsed.options = listOptions(commands, parsed.path);
    } else {
      parsed.args.push(word);
    }
  }
  return parsed;
}

function isCommand(commands: readonly CommandSpec[], path: string[]): boolean {
  const name = path.join(" ");
  return commands.some((spec) => spec.name === name || spec.name.startsWith(`${name} `));
}

function subcommands(commands: readonly CommandSpec[], path: string[]): Candidate[] {
  const prefix = path.map((word) => `${word} `).join("");
  const below = commands.filter(({ name }) => name.startsWith(prefix) && name !== path.join(" "));
  const summaries = new Map<string, string>();
  for (const { name, summary } of below) {
    const [word = "", ...rest] = name.slice(prefix.length).split(" ");
    if (rest.length === 0) summaries.set(word, summary);
    else if (!summaries.has(word)) summaries.set(word, commandGroups[word] ?? "");
  }
  return [...summaries].map(([value, summary]) => ({ value, summary }));
}

function listOptions(commands: readonly CommandSpec[], path: string[]): Option[] {
  const spec = commands.find(({ name }) => name === path.join(" "));
  const common = spec ? jsonOption : versionOption;
  return [...(spec?.options ?? []), common, helpOption].map(({ flags, summary }) => ({
    names: flags.split(/[ ,]+/).filter((part) => part.startsWith("-")),
    takesValue: flags.includes("<"),
    summary,
  }));
}

const jsonOption = { flags: "--json", summary: "Print JSON only" };
const versionOption = { flags: "-v, --version", summary: "Show the version" };
const helpOption = { flags: "-h, --help", summary: "Show help" };

/** Only the long name: short names need no completion. */
function optionCandidates({ names, summary }: Option): Candidate[] {
  return names.slice(-1).map((value) => ({ value, summary }));
}

function optionValueKind({ names }: Option, path: string[]): string {
  const name = names.at(-1) ?? "";
  return optionKinds[`${path.join(" ")} ${name}`] ?? optionKinds[name] ?? "nothing";
}

const optionKinds: Record<string, string> = {
  "--agent": "agent",
  "--config": "file",
  "--file": "file",
  "--output": "file",
  "--socket": "file",
  "--status": "status",
  "--outcome": "outcome",
  "--job": "job",
  "--resume": "job",
  "--fork": "job",
  "--schedule": "schedule",
  "--example": "example",
  "--role": "role",
  "--scope": "scope",
  "--action": "action",
};

/** `job|agent` stands for two kinds; the kind of an `id` depends on the command. */
function argumentKinds(name: string, [command = ""]: string[]): string[] {
  return name
    .split("|")
    .map((kind) => (kind === "id" ? (idKindsByCommand[command] ?? "nothing") : kind));
}

const idKindsByCommand: Record<string, string> = {
  job: "job",
  sessions: "job",
  approvals: "approval",
  answer: "approval",
};
