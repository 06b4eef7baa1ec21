import type { ProcessEntry } from "./process-table.ts";

/** Start times by pid. */
export type ProcessStartTimes = Map<number, string>;

/** The known processes that are still alive, and all their descendants. */
export function findLivingDescendants(
  table: readonly ProcessEntry[],
  known: ProcessStartTimes,
): ProcessEntry[] {
  const children = groupByParent(table);
  const living = new Set(table.filter((entry) => known.get(entry.pid) === entry.startTime));
  // Iteration over a Set includes entries that are added during the iteration.
  for (const parent of living) {
    for (const child of children.get(parent.pid) ?? []) living.add(child);
  }
  return [...living];
}

/** A process and its ancestors. */
export function findAncestors(table: readonly ProcessEntry[], pid: number): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.ppid]));
  const ancestors = new Set<number>();
  let next: number | undefined = pid;
  while (next !== undefined && !ancestors.has(next)) {
    ancestors.add(next);
    next = parents.get(next);
  }
  return ancestors;
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
