import { setTimeout as delay } from "node:timers/promises";
import type { ContainerManager, ContainerProcessEntry } from "../../docker/container-manager.ts";
import { containerPaths } from "../../lib/container-layout.ts";

/** The processes in a container before the first tool use; none of them belongs to a tool. */
interface ProcessBaseline {
  /** Claude and the init process. Processes that they start later belong to tools. */
  individualPids: ReadonlySet<number>;
  /** For example the forwarder, which starts a process for each connection. */
  treeRootPids: ReadonlySet<number>;
}

/** Undefined while the program has not started yet. */
export function baselineOf(
  processes: readonly ContainerProcessEntry[],
  program: string,
): ProcessBaseline | undefined {
  const parents = parentMapOf(processes);
  // Its parent is the init process; a newly forked child can briefly look like the program.
  const claude = processes.find(
    ({ command, parent }) => command.split(" ")[0] === program && isRootProcess(parent, parents),
  );
  if (!claude) return undefined;
  const individualPids = new Set([claude.pid, claude.parent]);
  const otherProcesses = processes.filter(
    ({ pid }) =>
      !individualPids.has(pid) && !isSelfOrDescendant(pid, new Set([claude.pid]), parents),
  );
  return { individualPids, treeRootPids: new Set(otherProcesses.map(({ pid }) => pid)) };
}

/** Processes that started later and still run. Orphaned processes are children of the init process. */
export function findLeftovers(
  processes: readonly ContainerProcessEntry[],
  { individualPids, treeRootPids }: ProcessBaseline,
): ContainerProcessEntry[] {
  const parents = parentMapOf(processes);
  return processes.filter(
    ({ pid }) => !individualPids.has(pid) && !isSelfOrDescendant(pid, treeRootPids, parents),
  );
}

type ParentMap = ReadonlyMap<number, number>;

function parentMapOf(processes: readonly ContainerProcessEntry[]): ParentMap {
  return new Map(processes.map(({ pid, parent }) => [pid, parent]));
}

function isRootProcess(pid: number, parents: ParentMap): boolean {
  const parent = parents.get(pid);
  return parent !== undefined && !parents.has(parent);
}

/** Whether `pid` is in `from` or descends from one of its processes. */
function isSelfOrDescendant(
  pid: number | undefined,
  from: ReadonlySet<number>,
  parents: ParentMap,
): boolean {
  if (pid === undefined) return false;
  return from.has(pid) || isSelfOrDescendant(parents.get(pid), from, parents);
}

const pollIntervalMs = 50;

/** How long the program may take to start. */
const startTimeoutMs = 5_000;

/** Short-lived helpers of claude, such as git, have exited after this time. */
const endTimeoutMs = 1_000;

/** Call before the first prompt. Undefined if the processes cannot be listed. */
export async function captureBaseline(
  manager: ContainerManager,
  id: string,
): Promise<ProcessBaseline | undefined> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    const processes = await manager.listProcesses(id).catch(() => undefined);
    const baseline = processes && baselineOf(processes, containerPaths.claude);
    if (baseline || !processes) return baseline;
    await delay(pollIntervalMs);
  }
  return undefined;
}

/**
 * Whether a container cannot be used for another turn: a tool's process still runs in it, or a process
 * was killed because memory ran out. Leftover processes cannot be killed reliably without removing the
 * container, because a forking process may be missed and could then act in the next turn.
 */
export async function isContainerUnusable(
  manager: ContainerManager,
  id: string,
  baseline: ProcessBaseline | undefined,
): Promise<boolean> {
  if (!baseline) return true;
  try {
    const checks = await Promise.all([
      manager.hadOutOfMemoryEvent(id),
      hasLeftoverProcesses(manager, id, baseline),
    ]);
    // defence: leftover-ends-container
    return checks.includes(true);
  } catch {
    return true;
  }
}

async function hasLeftoverProcesses(
  manager: ContainerManager,
  id: string,
  baseline: ProcessBaseline,
): Promise<boolean> {
  const deadline = Date.now() + endTimeoutMs;
  for (;;) {
    if (findLeftovers(await manager.listProcesses(id), baseline).length === 0) return false;
    if (Date.now() > deadline) return true;
    await delay(pollIntervalMs);
  }
}
