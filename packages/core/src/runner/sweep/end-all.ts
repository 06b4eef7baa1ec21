import { setTimeout as delay } from "node:timers/promises";
import { Hunt, type Quarry } from "./hunt.ts";
import { type ProcessEntry, readProcess } from "./process-table.ts";

export interface Swept {
  killed: number;
  /** Those that could not be ended in time, and why. */
  left: { pid: number; reason: "not_permitted" | "still_alive" }[];
  /** The surest sign there was to know them by. */
  knownBy: "cgroup" | "marker" | "descendants";
}

const grace = 300;
const longest = 5_000;
// What forks while we look can be missed by one look, hardly by several.
const quietLooks = { nothingFound: 3, somethingFound: 8 };

/**
 * Asks all of the run to end, then ends it, until nothing of it is found any more. `quiet` is
 * called as soon as a look found nothing.
 */
export async function endAll(quarry: Quarry, quiet?: () => void): Promise<Swept> {
  // Nothing that is in a control group gets out of it: one that had all and is empty needs no look.
  if (quarry.cgroup?.isSurelyEmpty()) {
    quiet?.();
    await quarry.cgroup.remove();
    return { killed: 0, left: [], knownBy: "cgroup" };
  }
  const hunt = new Hunt(quarry);
  await terminate(hunt, quarry.platform);
  if (hunt.found.size === 0) quiet?.();
  const isForNow = quarry.spared !== undefined;
  // Where some are spared the rest is looked for again at their end.
  if (isForNow && hunt.found.size === 0)
    return { killed: 0, left: [], knownBy: surestSign(quarry) };
  const left = await kill(hunt, quarry);
  if (!isForNow) await quarry.cgroup?.remove();
  return { killed: hunt.found.size - left.length, left, knownBy: surestSign(quarry) };
}

async function terminate(hunt: Hunt, platform: NodeJS.Platform): Promise<void> {
  const all = [...hunt.look()];
  for (const entry of all) send("SIGTERM", entry, platform);
  const deadline = Date.now() + grace;
  while (all.length > 0 && Date.now() < deadline && hunt.areAlive(all)) await delay(10);
}

async function kill(hunt: Hunt, { cgroup, platform, spared }: Quarry): Promise<Swept["left"]> {
  const deadline = Date.now() + longest;
  let left: Swept["left"] = [];
  let quiet = 0;
  while (quiet < neededLooks(hunt) && Date.now() < deadline) {
    if (!spared) cgroup?.kill();
    left = [];
    for (const entry of hunt.look()) {
      const reason = send("SIGKILL", entry, platform) ? "still_alive" : "not_permitted";
      left.push({ pid: entry.pid, reason });
    }
    quiet = left.length === 0 ? quiet + 1 : 0;
    await delay(5);
  }
  return left;
}

function neededLooks(hunt: Hunt): number {
  return hunt.found.size === 0 ? quietLooks.nothingFound : quietLooks.somethingFound;
}

/** False when we may not. */
function send(signal: NodeJS.Signals, entry: ProcessEntry, platform: NodeJS.Platform): boolean {
  // By now the number may be somebody else's.
  if (readProcess(entry.pid, platform)?.startTime !== entry.startTime) return true;
  try {
    process.kill(entry.pid, signal);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "EPERM");
  }
}

function surestSign({ cgroup, platform }: Quarry): Swept["knownBy"] {
  if (cgroup) return "cgroup";
  return platform === "linux" ? "marker" : "descendants";
}
