/** As the engine lists them, by their numbers on its machine. */
export interface ContainedProcess {
  pid: number;
  parent: number;
  command: string;
}

/** Who is in a container before a tool was used: all of them are ours. */
export interface Residents {
  /** Claude and the first of all. What they start later is a tool's. */
  alone: ReadonlySet<number>;
  /** Such as the forwarder, which starts one more for each connection. */
  families: ReadonlySet<number>;
}

/** Undefined while the program is not up yet. */
export function residentsOf(
  table: readonly ContainedProcess[],
  program: string,
): Residents | undefined {
  const parents = parentsOf(table);
  // Its parent is the first of all; a child of its own may look like it for a moment.
  const claude = table.find(
    ({ command, parent }) => command.split(" ")[0] === program && isFirst(parent, parents),
  );
  if (!claude) return undefined;
  const alone = new Set([claude.pid, claude.parent]);
  const others = table.filter(
    ({ pid }) => !alone.has(pid) && !descends(pid, new Set([claude.pid]), parents),
  );
  return { alone, families: new Set(others.map(({ pid }) => pid)) };
}

/** Those who came later and are still there. Who has lost its parent is a child of the first. */
export function leftOvers(
  table: readonly ContainedProcess[],
  { alone, families }: Residents,
): ContainedProcess[] {
  const parents = parentsOf(table);
  return table.filter(({ pid }) => !alone.has(pid) && !descends(pid, families, parents));
}

type Parents = ReadonlyMap<number, number>;

function parentsOf(table: readonly ContainedProcess[]): Parents {
  return new Map(table.map(({ pid, parent }) => [pid, parent]));
}

function isFirst(pid: number, parents: Parents): boolean {
  const parent = parents.get(pid);
  return parent !== undefined && !parents.has(parent);
}

/** Or is one of them. */
function descends(pid: number | undefined, from: ReadonlySet<number>, parents: Parents): boolean {
  if (pid === undefined) return false;
  return from.has(pid) || descends(parents.get(pid), from, parents);
}
