import { setTimeout as delay } from "node:timers/promises";
import { RunCgroup } from "./cgroup.ts";
import { endAll, type Swept } from "./end-all.ts";
import { type Known, livingFamily } from "./family.ts";
import { readProc, readProcess, readProcesses } from "./process-table.ts";

export interface LeashOptions {
  platform?: NodeJS.Platform;
  /** False leaves the work to marker and descendants, as where no control group may be made. */
  cgroup?: boolean;
}

const lookEvery = 1_000;
const longestDead = 1_000;

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
  #first: number | undefined;
  #lasting: Known | undefined;

  constructor(runToken: string, options: LeashOptions = {}) {
    this.#runToken = runToken;
    this.#platform = options.platform ?? process.platform;
    this.#mayGroup = this.#platform === "linux" && options.cgroup !== false;
  }

  /**
   * At once after the start: what the program forked before is not in the control group, unless it
   * is in one already.
   */
  hold(pid: number, group?: RunCgroup): void {
    this.#first ??= pid;
    if (group && !this.#cgroup) this.#cgroup = group;
    else this.#group(pid);
    if (this.#cgroup !== group) void group?.remove();
    // What it forks is in the group: the first look need not fall into the start of `claude`.
    if (this.#cgroup) this.#nextGlance = performance.now() + lookEvery;
    const entry = readProcess(pid, this.#platform);
    if (entry) this.#known.set(entry.pid, entry.startTime);
  }

  /** One that lasts as long as the run does, with all that it starts. */
  holdServer(pid: number): void {
    this.#group(pid);
    const entry = readProcess(pid, this.#platform);
    if (!entry) return;
    this.#known.set(entry.pid, entry.startTime);
    this.#lasting?.set(entry.pid, entry.startTime);
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
    this.#nextGlance = now + Math.max(lookEvery, 100 * took);
  }

  /** No tool has been used yet: what is up now, such as a server, lasts as long as the first does. */
  spareServers(): void {
    if (this.#lasting) return;
    const family = livingFamily(readProcesses(this.#platform), this.#known);
    const servers = family.filter(({ pid }) => pid !== this.#first);
    this.#lasting = new Map(servers.map(({ pid, startTime }) => [pid, startTime]));
  }

  /** Ends what tools have left behind, and leaves the first and its servers up. */
  async killLeftOvers(): Promise<void> {
    if (this.#first === undefined) return;
    await endAll({
      runToken: this.#runToken,
      platform: this.#platform,
      known: new Map(this.#known),
      cgroup: this.#cgroup,
      spared: { alone: this.#first, families: this.#lasting ?? new Map() },
    });
  }

  /** Ends whatever of the run is alive. */
  kill(): Promise<Swept> {
    this.#swept ??= this.#endAll();
    return this.#swept;
  }

  /** The same, but whoever waits goes on when a first look finds nothing; `looked` has the others. */
  async killUnhurried(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#swept ??= this.#endAll(resolve);
      this.#swept.then(() => resolve(), reject);
    });
  }

  /** It had all of the run in its group, and nothing is there any more. */
  get isSurelyOver(): boolean {
    return this.#cgroup?.isSurelyEmpty() ?? false;
  }

  /** Resolves when nothing that was begun to be ended can be left. */
  async looked(): Promise<void> {
    await this.#swept;
  }

  async #endAll(quiet?: () => void): Promise<Swept> {
    const quarry = { runToken: this.#runToken, platform: this.#platform };
    const swept = await endAll({ ...quarry, known: this.#known, cgroup: this.#cgroup }, quiet);
    await this.#reaped();
    return swept;
  }

  /**
   * Its end may be known before the system has told us of it. Whoever goes then leaves a dead process
   * to somebody who may never look at it.
   */
  async #reaped(): Promise<void> {
    const deadline = Date.now() + longestDead;
    while (this.#isOnTable() && Date.now() < deadline) await delay(5);
  }

  #isOnTable(): boolean {
    return this.#first !== undefined && readProc(this.#first, "stat") !== undefined;
  }
}
