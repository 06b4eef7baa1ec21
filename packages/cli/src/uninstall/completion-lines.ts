import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A shell's start file with lines that load herdctl's completion. */
export interface CompletionFile {
  file: string;
  lines: number[];
}

const startFiles = [".bashrc", ".bash_profile", ".zshrc", ".config/fish/config.fish"];
const completionLine = /^[^#]*\bherdctl\s+completion\s+(?:bash|zsh|fish)\b/;

export function findCompletionFiles(env: NodeJS.ProcessEnv): CompletionFile[] {
  const home = env.HOME ?? homedir();
  return startFiles
    .map((name) => join(home, name))
    .map((file) => ({ file, lines: numbersOfCompletionLines(readIfExists(file)) }))
    .filter(({ lines }) => lines.length > 0);
}

export function removeCompletionLines({ file }: CompletionFile): void {
  const lines = readIfExists(file).split("\n");
  writeFileSync(file, lines.filter((line) => !completionLine.test(line)).join("\n"));
}

function numbersOfCompletionLines(text: string): number[] {
  return text.split("\n").flatMap((line, index) => (completionLine.test(line) ? [index + 1] : []));
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
