import type { Entry } from "./entry.ts";

/** The keys of all entries that contain a text, in display order. */
export function findEntriesWithText(entries: readonly Entry[], searchText: string): string[] {
  const lowercaseText = searchText.trim().toLowerCase();
  if (lowercaseText === "") return [];
  return collectKeys(entries, (entry) => searchableTexts(entry).some(containsText(lowercaseText)));
}

/** The keys of all failed entries, in display order. */
export function findErrorEntries(entries: readonly Entry[]): string[] {
  return collectKeys(entries, isError);
}

/** The tool calls that must be expanded to show an entry, outermost first. */
export function ancestorKeys(entries: readonly Entry[], key: string): string[] {
  return findPath(entries, key) ?? [];
}

function findPath(entries: readonly Entry[], key: string): string[] | undefined {
  for (const entry of entries) {
    if (entry.key === key) return [];
    if (entry.kind !== "tool" || entry.children.length === 0) continue;
    const childPath = findPath(entry.children, key);
    if (childPath) return [entry.key, ...childPath];
  }
  return undefined;
}

function isError(entry: Entry): boolean {
  if (entry.kind === "tool") return entry.result?.isError === true || entry.deniedReason !== null;
  return (entry.kind === "marker" || entry.kind === "end") && entry.isError;
}

function collectKeys(
  entries: readonly Entry[],
  isWanted: (entry: Entry) => boolean,
  found: string[] = [],
): string[] {
  for (const entry of entries) {
    if (isWanted(entry)) found.push(entry.key);
    if (entry.kind === "tool" && entry.children.length > 0)
      collectKeys(entry.children, isWanted, found);
  }
  return found;
}

function containsText(searchText: string): (text: string) => boolean {
  return (text) => text.toLowerCase().includes(searchText);
}

function searchableTexts(entry: Entry): string[] {
  if (entry.kind !== "tool") return [entry.text];
  const { tool, input, result, deniedReason } = entry;
  return [tool, JSON.stringify(input), result?.text ?? "", deniedReason ?? ""];
}
