import type { CoverageMap, CoverageMapData, FileCoverageData } from "istanbul-lib-coverage";

type Place = { start: { line: number; column: number } };

/**
 * Adds to what was counted in the source what was counted in programs built from it. What is there
 * to be covered is said by the first alone: a builder leaves things out, and moves them.
 */
export function addCounts(to: CoverageMap, built: CoverageMapData): void {
  for (const file of to.files()) {
    const counted = built[file];
    if (counted) addFile(to.fileCoverageFor(file).data, dataOf(counted));
  }
}

function addFile(to: FileCoverageData, from: FileCoverageData): void {
  const statements = byPlace(from.statementMap);
  for (const [id, place] of Object.entries(to.statementMap))
    to.s[id] = (to.s[id] ?? 0) + countOf(from.s, statements.get(keyOf(place)));

  const functions = byPlace(mapValues(from.fnMap, ({ loc }) => loc));
  for (const [id, { loc }] of Object.entries(to.fnMap))
    to.f[id] = (to.f[id] ?? 0) + countOf(from.f, functions.get(keyOf(loc)));

  const branches = new Map(
    Object.entries(from.branchMap).map(([id, { type, loc }]) => [`${type} ${keyOf(loc)}`, id]),
  );
  for (const [id, { type, loc }] of Object.entries(to.branchMap)) {
    const found = branches.get(`${type} ${keyOf(loc)}`);
    const more = found === undefined ? [] : (from.b[found] ?? []);
    to.b[id] = (to.b[id] ?? []).map((count, path) => count + (more[path] ?? 0));
  }
}

function byPlace(places: Record<string, Place>): Map<string, string> {
  return new Map(Object.entries(places).map(([id, place]) => [keyOf(place), id]));
}

function keyOf({ start: { line, column } }: Place): string {
  return `${line}:${column}`;
}

function countOf(counts: Record<string, number>, id: string | undefined): number {
  return (id === undefined ? undefined : counts[id]) ?? 0;
}

function mapValues<T, U>(from: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(from).map(([key, value]) => [key, change(value)]));
}

function dataOf(counted: CoverageMapData[string]): FileCoverageData {
  return "data" in counted ? counted.data : counted;
}
