import { setTimeout as delay } from "node:timers/promises";
import { hasErrorCode } from "@herdctl/protocol";
import { RunCgroup } from "./cgroup.ts";
import {
  findAncestors,
  findLivingDescendants,
  findMarkedProcesses,
  type ProcessEntry,
  type ProcessStartTimes,
  readAncestry,
  readProcess,
  readProcesses,
} from "./process-table.ts";

export interface KillResult {
  killed: number;
  /** Processes that could not be killed in time, and why. */
  survivors: { pid: number; reason: "not_permitted" | "still_alive" }[];
  /** The strongest evidence that was available to identify the processes. */
  identifiedBy: "cgroup" | "marker" | "descendants";
}

const termGraceMs = 300;
const maxKillMs = 5_000;
// One scan can miss processes that fork during it; several scans rarely do.
const requiredEmptyScans = { nothingFound: 3, somethingFound: 8 };

/** Sends SIGTERM to all processes of the run, then SIGKILL until none is found. */
export async function killProcesses(target: KillTarget): Promise<KillResult> {
  // Processes cannot leave a control group: if it held all of them and is empty, skip the scan.
  if (target.cgroup?.isKnownEmpty()) {
    await target.cgroup.remove();
    return { killed: 0, survivors: [], identifiedBy: "cgroup" };
  }
  const finder = new ProcessFinder(target);
  await terminate(finder, target.platform);
  const sparesSome = target.spared !== undefined;
  // With spared processes, the rest is scanned again when they end.
  if (sparesSome && finder.found.size === 0)
    return { killed: 0, survivors: [], identifiedBy: strongestEvidence(target) };
  const survivors = await kill(finder, target);
  if (!sparesSome) await target.cgroup?.remove();
  return {
    killed: finder.found.size - survivors.length,
    survivors,
    identifiedBy: strongestEvidence(target),
  };
}

async function terminate(finder: ProcessFinder, platform: NodeJS.Platform): Promise<void> {
  const all = [...finder.scan()];
  for (const entry of all) send("SIGTERM", entry, platform);
  const deadline = Date.now() + termGraceMs;
  while (all.length > 0 && Date.now() < deadline && finder.isAnyAlive(all)) await delay(10);
}

async function kill(
  finder: ProcessFinder,
  { cgroup, platform, spared }: KillTarget,
): Promise<KillResult["survivors"]> {
  const deadline = Date.now() + maxKillMs;
  let survivors: KillResult["survivors"] = [];
  let emptyScans = 0;
  while (emptyScans < requiredScans(finder) && Date.now() < deadline) {
    if (!spared) cgroup?.kill();
    survivors = [];
    for (const entry of finder.scan()) {
      const reason = send("SIGKILL", entry, platform) ? "still_alive" : "not_permitted";
      survivors.push({ pid: entry.pid, reason });
    }
    emptyScans = survivors.length === 0 ? emptyScans + 1 : 0;
    await delay(5);
  }
  return survivors;
}

function requiredScans(finder: ProcessFinder): number {
  return finder.found.size === 0
    ? requiredEmptyScans.nothingFound
    : requiredEmptyScans.somethingFound;
}

/** False if we are not permitted to signal the process. */
function send(signal: NodeJS.Signals, entry: ProcessEntry, platform: NodeJS.Platform): boolean {
  // By now the pid may belong to another process.
  if (readProcess(entry.pid, platform)?.startTime !== entry.startTime) return true;
  try {
    process.kill(entry.pid, signal);
    return true;
  } catch (error) {
    return !hasErrorCode(error, "EPERM");
  }
}

function strongestEvidence({ cgroup, platform }: KillTarget): KillResult["identifiedBy"] {
  if (cgroup) return "cgroup";
  return platform === "linux" ? "marker" : "descendants";
}

/** For a run whose runner died: only the control group and the marker identify its processes. */
export async function killRunProcesses(runToken: string): Promise<KillResult> {
  const platform = process.platform;
  const cgroup = platform === "linux" ? RunCgroup.find(runToken) : undefined;
  return await killProcesses({ runToken, platform, known: new Map(), cgroup });
}

interface KillTarget {
  runToken: string;
  platform: NodeJS.Platform;
  /** Processes that certainly belong to the run, even without marker or control group. */
  known: ProcessStartTimes;
  cgroup: RunCgroup | undefined;
  /** Processes to leave alone: `withDescendants` including descendants, `single` only that pid. */
  spared?: { withDescendants: ProcessStartTimes; single: number };
}

/** Finds the remaining processes of one run, repeatedly while they are being killed. */
class ProcessFinder {
  /** Every process found so far. */
  readonly found: ProcessStartTimes = new Map();
  private readonly unmarked = new Set<number>();
  private readonly ownAncestors: Set<number>;

  constructor(private readonly target: KillTarget) {
    this.ownAncestors = findAncestors(readAncestry(process.pid, target.platform), process.pid);
  }

  /** Yields each process as soon as it is found, and remembers it even if its parents exit. */
  *scan(): Generator<ProcessEntry> {
    const seen = new Set<number>();
    for (const entry of this.candidates()) {
      if (seen.has(entry.pid) || this.ownAncestors.has(entry.pid)) continue;
      if (this.isSpared(entry)) continue;
      seen.add(entry.pid);
      this.target.known.set(entry.pid, entry.startTime);
      this.found.set(entry.pid, entry.startTime);
      yield entry;
    }
  }

  private *candidates(): Generator<ProcessEntry> {
    const { runToken, platform, known, cgroup } = this.target;
    if (platform === "linux") yield* findMarkedProcesses(runToken, this.unmarked);
    yield* cgroup?.members().flatMap((pid) => readProcess(pid, platform) ?? []) ?? [];
    if (this.hasLivingKnown()) yield* findLivingDescendants(readProcesses(platform), known);
  }

  /** Reads the ancestry every time, because spared processes can fork. */
  private isSpared({ pid }: ProcessEntry): boolean {
    const { spared, platform } = this.target;
    if (!spared) return false;
    if (pid === spared.single) return true;
    return readAncestry(pid, platform).some(
      (entry) => spared.withDescendants.get(entry.pid) === entry.startTime,
    );
  }

  /** Dead processes have no children; this avoids a scan of the whole process table. */
  private hasLivingKnown(): boolean {
    const { known, platform } = this.target;
    if (platform !== "linux") return known.size > 0;
    return [...known].some(
      ([pid, startTime]) => readProcess(pid, platform)?.startTime === startTime,
    );
  }

  isAnyAlive(entries: readonly ProcessEntry[]): boolean {
    const startTimes = new Map(entries.map((entry) => [entry.pid, entry.startTime]));
    return readProcesses(this.target.platform).some(
      (entry) => startTimes.get(entry.pid) === entry.startTime,
    );
  }
}
