import type { CoverageMap, CoverageMapData, FileCoverageData } from "istanbul-lib-coverage";

type SourceRange = { start: { line: number; column: number } };

/**
 * Adds coverage of built programs to that of the source. Only the source decides which locations
 * count, because a bundler removes and moves code.
 */
export function mergeCoverage(to: CoverageMap, built: CoverageMapData): void {
  for (const file of to.files()) {
    const counted = built[file];
    if (counted) mergeFile(to.fileCoverageFor(file).data, fileData(counted));
  }
}

function mergeFile(to: FileCoverageData, from: FileCoverageData): void {
  const statements = idsByRange(from.statementMap);
  for (const [id, place] of Object.entries(to.statementMap))
    to.s[id] = (to.s[id] ?? 0) + countOf(from.s, statements.get(rangeKey(place)));

  const functions = idsByRange(mapValues(from.fnMap, ({ loc }) => loc));
  for (const [id, { loc }] of Object.entries(to.fnMap))
    to.f[id] = (to.f[id] ?? 0) + countOf(from.f, functions.get(rangeKey(loc)));

  const branches = new Map(
    Object.entries(from.branchMap).map(([id, { type, loc }]) => [`${type} ${rangeKey(loc)}`, id]),
  );
  for (const [id, { type, loc }] of Object.entries(to.branchMap)) {
    const found = branches.get(`${type} ${rangeKey(loc)}`);
    const more = found === undefined ? [] : (from.b[found] ?? []);
    to.b[id] = (to.b[id] ?? []).map((count, path) => count + (more[path] ?? 0));
  }
}

function idsByRange(places: Record<string, SourceRange>): Map<string, string> {
  return new Map(Object.entries(places).map(([id, place]) => [rangeKey(place), id]));
}

function rangeKey({ start: { line, column } }: SourceRange): string {
  return `${line}:${column}`;
}

function countOf(counts: Record<string, number>, id: string | undefined): number {
  return (id === undefined ? undefined : counts[id]) ?? 0;
}

function mapValues<T, U>(from: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(from).map(([key, value]) => [key, change(value)]));
}

function fileData(counted: CoverageMapData[string]): FileCoverageData {
  return "data" in counted ? counted.data : counted;
}
