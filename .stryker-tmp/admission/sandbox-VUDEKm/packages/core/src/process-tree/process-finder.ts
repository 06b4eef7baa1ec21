import type { RunCgroup } from "./cgroup.ts";
import { findAncestors, findLivingDescendants, type ProcessStartTimes } from "./descendants.ts";
import { findMarkedProcesses } from "./process-marker.ts";
import { type ProcessEntry, readAncestry, readProcess, readProcesses } from "./process-table.ts";

export interface KillTarget {
  runToken: string;
  platform: NodeJS.Platform;
  /** Processes that certainly belong to the run, even without marker or control group. */
  known: ProcessStartTimes;
  cgroup: RunCgroup | undefined;
  /** Processes to leave alone: `withDescendants` including descendants, `single` only that pid. */
  spared?: { withDescendants: ProcessStartTimes; single: number };
}

/** Finds the remaining processes of one run, repeatedly while they are being killed. */
export class ProcessFinder {
  /** Every process found so far. */
  readonly found: ProcessStartTimes = new Map();
  readonly #target: KillTarget;
  readonly #unmarked = new Set<number>();
  readonly #ownAncestors: Set<number>;

  constructor(target: KillTarget) {
    this.#target = target;
    this.#ownAncestors = findAncestors(readAncestry(process.pid, target.platform), process.pid);
  }

  /** Yields each process as soon as it is found, and remembers it even if its parents exit. */
  *scan(): Generator<ProcessEntry> {
    const seen = new Set<number>();
    for (const entry of this.#candidates()) {
      if (seen.has(entry.pid) || this.#ownAncestors.has(entry.pid)) continue;
      if (this.#isSpared(entry)) continue;
      seen.add(entry.pid);
      this.#target.known.set(entry.pid, entry.startTime);
      this.found.set(entry.pid, entry.startTime);
      yield entry;
    }
  }

  *#candidates(): Generator<ProcessEntry> {
    const { runToken, platform, known, cgroup } = this.#target;
    if (platform === "linux") yield* findMarkedProcesses(runToken, this.#unmarked);
    yield* cgroup?.members().flatMap((pid) => readProcess(pid, platform) ?? []) ?? [];
    if (this.#hasLivingKnown()) yield* findLivingDescendants(readProcesses(platform), known);
  }

  /** Reads the ancestry every time, because spared processes can fork. */
  #isSpared({ pid }: ProcessEntry): boolean {
    const { spared, platform } = this.#target;
    if (!spared) return false;
    if (pid === spared.single) return true;
    return readAncestry(pid, platform).some(
      (entry) => spared.withDescendants.get(entry.pid) === entry.startTime,
    );
  }

  /** Dead processes have no children; this avoids a scan of the whole process table. */
  #hasLivingKnown(): boolean {
    const { known, platform } = this.#target;
    if (platform !== "linux") return known.size > 0;
    return [...known].some(
      ([pid, startTime]) => readProcess(pid, platform)?.startTime === startTime,
    );
  }

  isAnyAlive(entries: readonly ProcessEntry[]): boolean {
    const startTimes = new Map(entries.map((entry) => [entry.pid, entry.startTime]));
    return readProcesses(this.#target.platform).some(
      (entry) => startTimes.get(entry.pid) === entry.startTime,
    );
  }
}
