import type { Entry } from "./entry.ts";

/** The keys of all entries that hold these words, in the order in which they are read. */
export function findWords(entries: readonly Entry[], words: string): string[] {
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return [];
  return keysWhere(entries, (entry) => textsOf(entry).some(has(wanted)));
}

/** What went wrong, in the order in which it is read. */
export function findErrors(entries: readonly Entry[]): string[] {
  return keysWhere(entries, isError);
}

/** The calls that must be open for an entry to be seen, the outermost first. */
export function wayTo(entries: readonly Entry[], key: string): string[] {
  return pathTo(entries, key) ?? [];
}

function pathTo(entries: readonly Entry[], key: string): string[] | undefined {
  for (const entry of entries) {
    if (entry.key === key) return [];
    if (entry.kind !== "tool" || entry.children.length === 0) continue;
    const below = pathTo(entry.children, key);
    if (below) return [entry.key, ...below];
  }
  return undefined;
}

function isError(entry: Entry): boolean {
  if (entry.kind === "tool") return entry.result?.isError === true || entry.denied !== null;
  return (entry.kind === "marker" || entry.kind === "end") && entry.isError;
}

function keysWhere(
  entries: readonly Entry[],
  isWanted: (entry: Entry) => boolean,
  found: string[] = [],
): string[] {
  for (const entry of entries) {
    if (isWanted(entry)) found.push(entry.key);
    if (entry.kind === "tool" && entry.children.length > 0)
      keysWhere(entry.children, isWanted, found);
  }
  return found;
}

function has(words: string): (text: string) => boolean {
  return (text) => text.toLowerCase().includes(words);
}

function textsOf(entry: Entry): string[] {
  if (entry.kind !== "tool") return [entry.text];
  const { tool, input, result, denied } = entry;
  return [tool, JSON.stringify(input), result?.text ?? "", denied ?? ""];
}
