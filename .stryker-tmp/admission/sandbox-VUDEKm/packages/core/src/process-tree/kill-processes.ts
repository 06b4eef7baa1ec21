import { setTimeout as delay } from "node:timers/promises";
import { hasErrorCode } from "@herdctl/protocol";
import { RunCgroup } from "./cgroup.ts";
import { type KillTarget, ProcessFinder } from "./process-finder.ts";
import { type ProcessEntry, readProcess } from "./process-table.ts";

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
