import type { Entry } from "./entry.ts";

/** The keys of all entries that hold these words, in the order in which they are read. */
export function findWords(entries: readonly Entry[], words: string): string[] {
  const wanted = words.trim().toLowerCase();
  return wanted === ""
    ? []
    : pathsWhere(entries, (entry) => textsOf(entry).some(has(wanted))).map(lastOf);
}

/** What went wrong, in the order in which it is read. */
export function findErrors(entries: readonly Entry[]): string[] {
  return pathsWhere(entries, isError).map(lastOf);
}

/** The calls that must be open for an entry to be seen, the outermost first. */
export function wayTo(entries: readonly Entry[], key: string): string[] {
  const [path = []] = pathsWhere(entries, (entry) => entry.key === key);
  return path.slice(0, -1);
}

export function isError(entry: Entry): boolean {
  if (entry.kind === "tool") return entry.result?.isError === true || entry.denied !== null;
  return (entry.kind === "marker" || entry.kind === "end") && entry.isError;
}

function pathsWhere(
  entries: readonly Entry[],
  isWanted: (entry: Entry) => boolean,
  above: readonly string[] = [],
): string[][] {
  return entries.flatMap((entry) => {
    const path = [...above, entry.key];
    const below = entry.kind === "tool" ? pathsWhere(entry.children, isWanted, path) : [];
    return isWanted(entry) ? [path, ...below] : below;
  });
}

function lastOf(path: readonly string[]): string {
  return path.at(-1) ?? "";
}

function has(words: string): (text: string) => boolean {
  return (text) => text.toLowerCase().includes(words);
}

function textsOf(entry: Entry): string[] {
  if (entry.kind !== "tool") return [entry.text];
  const { tool, input, result, denied } = entry;
  return [tool, JSON.stringify(input), result?.text ?? "", denied ?? ""];
}
