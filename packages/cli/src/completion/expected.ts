import type { CommandSpec } from "../command.ts";

export interface Candidate {
  word: string;
  summary: string;
}

/** What may stand at the cursor: words that are known, and kinds of names that a fleet knows. */
export interface Expected {
  candidates: Candidate[];
  kinds: string[];
  /** What stands before the cursor and is neither command nor option. */
  given: string[];
  config: string | undefined;
}

interface Option {
  names: string[];
  takesValue: boolean;
  summary: string;
}

/** Decides from the command table alone. The last word is the one to complete, and may be empty. */
export function expected(commands: readonly CommandSpec[], words: readonly string[]): Expected {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const { path, given, options, pending, config } = walk(commands, typed);
  const found = (candidates: Candidate[], kinds: string[]): Expected => ({
    candidates: candidates.filter(({ word }) => word.startsWith(current)),
    kinds,
    given,
    config,
  });
  if (pending) return found([], [kindOfOption(pending, path)]);
  if (current.startsWith("-")) return found(options.flatMap(candidatesOf), []);
  const spec = commands.find(({ name }) => name === path.join(" "));
  const argument = spec?.arguments?.[given.length]?.name;
  const further = given.length === 0 ? subcommands(commands, path) : [];
  return found(further, argument === undefined ? [] : kindsOfArgument(argument, path));
}

interface Walked {
  path: string[];
  given: string[];
  options: Option[];
  /** The option whose value is to come. */
  pending: Option | undefined;
  config: string | undefined;
}

function walk(commands: readonly CommandSpec[], typed: readonly string[]): Walked {
  const walked: Walked = {
    path: [],
    given: [],
    options: optionsOf(commands, []),
    pending: undefined,
    config: undefined,
  };
  for (const word of typed) {
    if (walked.pending) {
      if (walked.pending.names.includes("--config")) walked.config = word;
      walked.pending = undefined;
    } else if (word.startsWith("-") && word !== "-") {
      walked.pending = walked.options.find((one) => one.takesValue && one.names.includes(word));
    } else if (walked.given.length === 0 && isCommand(commands, [...walked.path, word])) {
      walked.path.push(word);
      walked.options = optionsOf(commands, walked.path);
    } else {
      walked.given.push(word);
    }
  }
  return walked;
}

function isCommand(commands: readonly CommandSpec[], path: string[]): boolean {
  const name = path.join(" ");
  return commands.some((spec) => spec.name === name || spec.name.startsWith(`${name} `));
}

function subcommands(commands: readonly CommandSpec[], path: string[]): Candidate[] {
  const prefix = path.map((word) => `${word} `).join("");
  const below = commands.filter(({ name }) => name.startsWith(prefix) && name !== path.join(" "));
  const words = new Map<string, string>();
  for (const { name, summary } of below) {
    const [word = "", ...rest] = name.slice(prefix.length).split(" ");
    if (rest.length === 0 || !words.has(word)) words.set(word, rest.length === 0 ? summary : "");
  }
  return [...words].map(([word, summary]) => ({ word, summary }));
}

function optionsOf(commands: readonly CommandSpec[], path: string[]): Option[] {
  const spec = commands.find(({ name }) => name === path.join(" "));
  const always = [{ flags: "-h, --help", summary: "what it takes" }];
  const every = spec ? [{ flags: "--json", summary: "print JSON only" }] : [version];
  return [...(spec?.options ?? []), ...every, ...always].map(({ flags, summary }) => ({
    names: flags.split(/[ ,]+/).filter((part) => part.startsWith("-")),
    takesValue: flags.includes("<"),
    summary,
  }));
}

const version = { flags: "-v, --version", summary: "which version this is" };

/** The long name alone: whoever types the short one knows it. */
function candidatesOf({ names, summary }: Option): Candidate[] {
  return names.slice(-1).map((word) => ({ word, summary }));
}

function kindOfOption({ names }: Option, path: string[]): string {
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

/** `job|agent` is both; what an id is of, the command says. */
function kindsOfArgument(name: string, [command = ""]: string[]): string[] {
  return name.split("|").map((kind) => (kind === "id" ? (idKinds[command] ?? "nothing") : kind));
}

const idKinds: Record<string, string> = {
  job: "job",
  sessions: "job",
  approvals: "approval",
  answer: "approval",
};
