import { commands } from "../commands.ts";
import { openTerminal } from "../terminal.ts";
import { type Candidate, expected } from "./expected.ts";
import { liveNames } from "./live-names.ts";

const patience = 4_000;

/**
 * What a shell asks at the Tab key: a line for each word that may stand there, with a tab and what
 * it is for. `:files` leaves it to the shell. A person is typing: what is wrong is not told here,
 * and what takes long is left out.
 */
export async function answerShell(words: string[]): Promise<void> {
  const late = new Promise<Candidate[]>((done) => setTimeout(() => done([]), patience).unref());
  const found = await Promise.race([candidatesFor(words).catch(() => []), late]);
  const lines = found.map(({ word, summary }) => `${word}\t${summary.split("\n")[0]}\n`).join("");
  // Whatever is still under way must not keep the shell waiting.
  process.stdout.write(lines, () => process.exit(0));
}

async function candidatesFor(words: string[]): Promise<Candidate[]> {
  const { candidates, kinds, given, config } = expected(commands, words);
  if (kinds.some((kind) => files.has(kind))) return [{ word: ":files", summary: "" }];
  const call = {
    arguments: [],
    rest: [],
    options: { config },
    cwd: process.cwd(),
    env: process.env,
    terminal: openTerminal(true),
  };
  const named = await Promise.all(kinds.map(async (kind) => liveNames[kind]?.(call, given) ?? []));
  const fitting = named.flat().filter(({ word }) => word.startsWith(words.at(-1) ?? ""));
  return [...candidates, ...fitting.filter(({ word }) => isPlain.test(word))];
}

const files = new Set(["file", "script"]);

/** No word that a shell could take for anything but a word. */
const isPlain = /^[\w.@/-]+$/;
