import type { RunCgroup } from "./cgroup.ts";
import { type Known, lineage, livingFamily } from "./family.ts";
import { findMarked } from "./marker.ts";
import { type ProcessEntry, readAncestry, readProcess, readProcesses } from "./process-table.ts";

export interface Quarry {
  runToken: string;
  platform: NodeJS.Platform;
  /** Of the run for certain, though they may have lost every other sign of it. */
  known: Known;
  cgroup: RunCgroup | undefined;
  /** What is not to be ended, with all that descends from it, and who only itself is not. */
  spared?: { families: Known; alone: number };
}

/** Finds what is left of one run, again and again while it is being ended. */
export class Hunt {
  /** All that was ever found. */
  readonly found: Known = new Map();
  readonly #quarry: Quarry;
  readonly #innocent = new Set<number>();
  readonly #spared: Set<number>;

  constructor(quarry: Quarry) {
    this.#quarry = quarry;
    this.#spared = lineage(readAncestry(process.pid, quarry.platform), process.pid);
  }

  /** Each as soon as it is found; whoever is found stays known, whatever becomes of its parents. */
  *look(): Generator<ProcessEntry> {
    const seen = new Set<number>();
    for (const entry of this.#candidates()) {
      if (seen.has(entry.pid) || this.#spared.has(entry.pid)) continue;
      if (this.#isOfSparedFamily(entry)) continue;
      seen.add(entry.pid);
      this.#quarry.known.set(entry.pid, entry.startTime);
      this.found.set(entry.pid, entry.startTime);
      yield entry;
    }
  }

  *#candidates(): Generator<ProcessEntry> {
    const { runToken, platform, known, cgroup } = this.#quarry;
    if (platform === "linux") yield* findMarked(runToken, this.#innocent);
    yield* cgroup?.members().flatMap((pid) => readProcess(pid, platform) ?? []) ?? [];
    if (this.#knowsLiving()) yield* livingFamily(readProcesses(platform), known);
  }

  /** Looked up for each anew: a family grows. */
  #isOfSparedFamily({ pid }: ProcessEntry): boolean {
    const { spared, platform } = this.#quarry;
    if (!spared) return false;
    if (pid === spared.alone) return true;
    return readAncestry(pid, platform).some(
      (entry) => spared.families.get(entry.pid) === entry.startTime,
    );
  }

  /** The dead have no children: then nobody need look at every process for them. */
  #knowsLiving(): boolean {
    const { known, platform } = this.#quarry;
    if (platform !== "linux") return known.size > 0;
    return [...known].some(
      ([pid, startTime]) => readProcess(pid, platform)?.startTime === startTime,
    );
  }

  areAlive(entries: readonly ProcessEntry[]): boolean {
    const asked = new Map(entries.map((entry) => [entry.pid, entry.startTime]));
    return readProcesses(this.#quarry.platform).some(
      (entry) => asked.get(entry.pid) === entry.startTime,
    );
  }
}
