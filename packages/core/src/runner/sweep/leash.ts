import { RunCgroup } from "./cgroup.ts";
import { endAll, type Swept } from "./end-all.ts";
import { type Known, livingFamily } from "./family.ts";
import { readProcess, readProcesses } from "./process-table.ts";

export interface LeashOptions {
  platform?: NodeJS.Platform;
  /** False leaves the work to marker and descendants, as where no control group may be made. */
  cgroup?: boolean;
}

/**
 * Holds one run of claude, so that nothing of it outlives it. A tool can leave its process group
 * and lose its parent, so a run is known by three signs: a control group where one may be made,
 * a marker in the environment, and the descendants that were seen in time. Without a control
 * group a program escapes that cleans its environment and leaves its parent between two glances;
 * systems other than Linux show us descendants only.
 */
export class Leash {
  readonly #runToken: string;
  readonly #platform: NodeJS.Platform;
  #mayGroup: boolean;
  readonly #known: Known = new Map();
  #cgroup: RunCgroup | undefined;
  #nextGlance = 0;
  #swept: Promise<Swept> | undefined;

  constructor(runToken: string, options: LeashOptions = {}) {
    this.#runToken = runToken;
    this.#platform = options.platform ?? process.platform;
    this.#mayGroup = this.#platform === "linux" && options.cgroup !== false;
  }

  /** At once after the start: what the program forked before is not in the control group. */
  hold(pid: number): void {
    this.#group(pid);
    const entry = readProcess(pid, this.#platform);
    if (entry) this.#known.set(entry.pid, entry.startTime);
  }

  #group(pid: number): void {
    if (this.#cgroup) this.#cgroup.add(pid);
    else if (this.#mayGroup) this.#cgroup = RunCgroup.hold(this.#runToken, pid);
    // A group that lacks the first of the run would seem empty too early.
    this.#mayGroup = this.#cgroup !== undefined;
  }

  /** Cheap enough for every message: it looks once a second, and seldomer where looking is slow. */
  glance(now: number = performance.now()): void {
    if (now < this.#nextGlance || this.#known.size === 0) return;
    const family = livingFamily(readProcesses(this.#platform), this.#known);
    this.#known.clear();
    for (const { pid, startTime } of family) this.#known.set(pid, startTime);
    const took = performance.now() - now;
    this.#nextGlance = now + Math.max(1_000, 100 * took);
  }

  /** Ends whatever of the run is alive. */
  kill(): Promise<Swept> {
    this.#swept ??= endAll({
      runToken: this.#runToken,
      platform: this.#platform,
      known: this.#known,
      cgroup: this.#cgroup,
    });
    return this.#swept;
  }
}
