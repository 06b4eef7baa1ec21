import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** A running process. Pid and start time together identify it uniquely. */
export interface ProcessEntry {
  pid: number;
  ppid: number;
  startTime: string;
}

/** All running processes. */
export function readProcesses(platform: NodeJS.Platform): ProcessEntry[] {
  if (platform !== "linux") return parsePs(runPs());
  return listPids().flatMap((pid) => readProcess(pid, platform) ?? []);
}

export function readProcess(pid: number, platform: NodeJS.Platform): ProcessEntry | undefined {
  if (platform !== "linux") return readProcesses(platform).find((entry) => entry.pid === pid);
  const stat = readProc(pid, "stat");
  return stat === undefined ? undefined : parseStat(stat);
}

/** A process and its ancestors. On systems other than Linux: all processes. */
export function readAncestry(pid: number, platform: NodeJS.Platform): ProcessEntry[] {
  if (platform !== "linux") return readProcesses(platform);
  const ancestry: ProcessEntry[] = [];
  let entry = readProcess(pid, platform);
  while (entry !== undefined) {
    ancestry.push(entry);
    entry = readProcess(entry.ppid, platform);
  }
  return ancestry;
}

/** Highest pid first (usually the newest), to see processes that fork during the scan before they exit. */
export function listPids(): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.sort((a, b) => b - a);
}

/** A file in `/proc/PID`, or undefined if the process is gone or we may not read it. */
export function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return undefined;
  }
}

/** Fields from the third on. The program name is in parentheses and may contain spaces and parentheses. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

export function parseStat(stat: string): ProcessEntry | undefined {
  const fields = statFields(stat);
  const [state, ppid] = fields;
  const startTime = fields[19];
  if (startTime === undefined || isDead(state)) return undefined;
  return { pid: Number.parseInt(stat, 10), ppid: Number(ppid), startTime };
}

export function parsePs(text: string): ProcessEntry[] {
  return text.split("\n").flatMap((line) => {
    const [pid, ppid, state, ...started] = line.trim().split(/\s+/);
    if (started.length === 0 || isDead(state)) return [];
    return [{ pid: Number(pid), ppid: Number(ppid), startTime: started.join(" ") }];
  });
}

function isDead(state: string | undefined): boolean {
  return state === undefined || /^[ZX]/.test(state);
}

function runPs(): string {
  return execFileSync("ps", ["-Ao", "pid=,ppid=,state=,lstart="], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

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

/**
 * Yields processes that carry the run's marker as they are found. In a chain where each process forks
 * the next and exits, all of them would be gone by the end of a full scan of `/proc`.
 */
export function* findMarkedProcesses(
  runToken: string,
  unmarked: Set<number>,
): Generator<ProcessEntry> {
  for (const pid of listPids()) {
    if (unmarked.has(pid)) continue;
    const environ = readProc(pid, "environ");
    if (/* defence: marked-process-kill */ environ !== undefined && hasMarker(environ, runToken)) {
      const entry = readProcess(pid, "linux");
      if (entry) yield entry;
      continue;
    }
    // It reads as empty during `execve`.
    if (environ) unmarked.add(pid);
  }
}

/** Whether the marker is a whole entry, not part of another one. */
export function hasMarker(environ: string, runToken: string): boolean {
  // defence: whole-marker
  return `\0${environ}\0`.includes(`\0${runMarkerVariable}=${runToken}\0`);
}

/** The environment variable that marks every process of a run, so that leftovers can be killed. */
export const runMarkerVariable = "HERDCTL_RUN";
