import { raceTimeout } from "@herdctl/protocol";
import { commands } from "../commands.ts";
import { openTerminal } from "../terminal.ts";
import { analyzeCommandLine, type Candidate } from "./analyze-command-line.ts";
import { nameProviders } from "./name-providers.ts";

const timeoutMs = 4_000;

/**
 * Called by the shell scripts for the Tab key. Prints one line per candidate: the word, a tab and
 * its summary. `:files` makes the shell complete file names. Errors are not printed and slow
 * lookups are dropped, because the user is typing.
 */
export async function printCompletions(words: string[]): Promise<void> {
  const lookup = findCandidates(words).catch(() => []);
  const found = await raceTimeout(lookup, timeoutMs, () => [], { unref: true });
  const lines = found.map(({ value, summary }) => `${value}\t${summary.split("\n")[0]}\n`).join("");
  // Exit without waiting for unfinished lookups.
  process.stdout.write(lines, () => process.exit(0));
}

async function findCandidates(words: string[]): Promise<Candidate[]> {
  const { candidates, kinds, args, config } = analyzeCommandLine(commands, words);
  if (kinds.some((kind) => fileKinds.has(kind))) return [{ value: ":files", summary: "" }];
  const context = {
    arguments: [],
    passthroughArgs: [],
    options: { config },
    cwd: process.cwd(),
    env: process.env,
    terminal: openTerminal(true),
  };
  const namesByKind = await Promise.all(
    kinds.map(async (kind) => nameProviders[kind]?.(context, args) ?? []),
  );
  const matching = namesByKind.flat().filter(({ value }) => value.startsWith(words.at(-1) ?? ""));
  return [...candidates, ...matching.filter(({ value }) => safeWordPattern.test(value))];
}

const fileKinds = new Set(["file", "script"]);

/** Words without characters that are special in a shell. */
const safeWordPattern = /^[\w.@/-]+$/;
