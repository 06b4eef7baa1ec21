import type { ProcessEntry } from "./process-table.ts";

/** Start times by process number. */
export type Known = Map<number, string>;

/** Those we know that still live, and all that descend from them. */
export function livingFamily(table: readonly ProcessEntry[], known: Known): ProcessEntry[] {
  const children = groupByParent(table);
  const family = new Set(table.filter((entry) => known.get(entry.pid) === entry.startTime));
  // A set also walks over what is added to it on the way.
  for (const parent of family) {
    for (const child of children.get(parent.pid) ?? []) family.add(child);
  }
  return [...family];
}

/** A process and those it descends from. */
export function lineage(table: readonly ProcessEntry[], pid: number): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.ppid]));
  const line = new Set<number>();
  let next: number | undefined = pid;
  while (next !== undefined && !line.has(next)) {
    line.add(next);
    next = parents.get(next);
  }
  return line;
}

function groupByParent(table: readonly ProcessEntry[]): Map<number, ProcessEntry[]> {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of table) {
    const siblings = children.get(entry.ppid);
    if (siblings) siblings.push(entry);
    else children.set(entry.ppid, [entry]);
  }
  return children;
}
