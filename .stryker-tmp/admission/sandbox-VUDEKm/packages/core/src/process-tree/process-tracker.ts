import { RunCgroup } from "./cgroup.ts";
import { findLivingDescendants, type ProcessStartTimes } from "./descendants.ts";
import { type KillResult, killProcesses } from "./kill-processes.ts";
import { readProcess, readProcesses } from "./process-table.ts";

export interface ProcessTrackerOptions {
  platform?: NodeJS.Platform;
  /** False uses only marker and descendants, as on systems that do not allow a control group. */
  cgroup?: boolean;
}

const pollIntervalMs = 1_000;

/**
 * Tracks the processes of one run of claude, so that none of them outlives it. A tool can leave its
 * process group and lose its parent, so three kinds of evidence identify a process of the run: a
 * control group if one can be created, a marker in the environment, and the descendants seen by
 * polling. Without a control group, a program escapes if it clears its environment and leaves its
 * parent between two polls. On systems other than Linux only descendants are available.
 */
export class ProcessTracker {
  readonly #runToken: string;
  readonly #platform: NodeJS.Platform;
  #canUseCgroup: boolean;
  readonly #known: ProcessStartTimes = new Map();
  #cgroup: RunCgroup | undefined;
  #nextPollAt = 0;
  #killing: Promise<KillResult> | undefined;
  #rootPid: number | undefined;
  #serverStartTimes: ProcessStartTimes | undefined;

  constructor(runToken: string, options: ProcessTrackerOptions = {}) {
    this.#runToken = runToken;
    this.#platform = options.platform ?? process.platform;
    this.#canUseCgroup = this.#platform === "linux" && options.cgroup !== false;
  }

  /** Call immediately after the start: earlier forks of the program are not in the control group. */
  track(pid: number): void {
    this.#rootPid ??= pid;
    this.#addToCgroup(pid);
    // Forks are in the group, so the first poll does not have to happen while `claude` starts.
    if (this.#cgroup) this.#nextPollAt = performance.now() + pollIntervalMs;
    const entry = readProcess(pid, this.#platform);
    if (entry) this.#known.set(entry.pid, entry.startTime);
  }

  /** Tracks a server that lasts as long as the run, with its descendants. */
  trackServer(pid: number): void {
    this.#addToCgroup(pid);
    const entry = readProcess(pid, this.#platform);
    if (!entry) return;
    this.#known.set(entry.pid, entry.startTime);
    this.#serverStartTimes?.set(entry.pid, entry.startTime);
  }

  #addToCgroup(pid: number): void {
    if (this.#cgroup) this.#cgroup.add(pid);
    else if (this.#canUseCgroup) this.#cgroup = RunCgroup.create(this.#runToken, pid);
    // A group without the first process of the run would look empty too early.
    this.#canUseCgroup = this.#cgroup !== undefined;
  }

  /** Cheap enough to call for every message: scans at most once a second, less often if scans are slow. */
  poll(now: number = performance.now()): void {
    if (now < this.#nextPollAt || this.#known.size === 0) return;
    const living = findLivingDescendants(readProcesses(this.#platform), this.#known);
    this.#known.clear();
    for (const { pid, startTime } of living) this.#known.set(pid, startTime);
    const tookMs = performance.now() - now;
    this.#nextPollAt = now + Math.max(pollIntervalMs, 100 * tookMs);
  }

  /** Call before the first tool use: descendants that run now, such as servers, last as long as the run. */
  rememberServers(): void {
    if (this.#serverStartTimes) return;
    const living = findLivingDescendants(readProcesses(this.#platform), this.#known);
    const servers = living.filter(({ pid }) => pid !== this.#rootPid);
    this.#serverStartTimes = new Map(servers.map(({ pid, startTime }) => [pid, startTime]));
  }

  /** Kills processes that tools left behind, except the root process and its servers. */
  async killLeftovers(): Promise<void> {
    if (this.#rootPid === undefined) return;
    await killProcesses({
      runToken: this.#runToken,
      platform: this.#platform,
      known: new Map(this.#known),
      cgroup: this.#cgroup,
      spared: { single: this.#rootPid, withDescendants: this.#serverStartTimes ?? new Map() },
    });
  }

  /** Kills all processes of the run. */
  kill(): Promise<KillResult> {
    const run = { runToken: this.#runToken, platform: this.#platform };
    this.#killing ??= killProcesses({ ...run, known: this.#known, cgroup: this.#cgroup });
    return this.#killing;
  }
}
