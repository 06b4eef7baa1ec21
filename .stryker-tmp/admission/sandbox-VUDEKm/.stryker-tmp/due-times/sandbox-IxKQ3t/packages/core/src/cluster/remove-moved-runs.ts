import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { runTokenOf } from "../lib/run-token.ts";
import { killRunProcesses } from "../process-tree/kill-processes.ts";
import { isTempFile, removeRunFiles } from "../runner/recovery/remove-run-files.ts";
import type { StateManager } from "../store/state-manager.ts";

/**
 * Jobs that this node had started may have moved to other nodes while it counted as lost, so that
 * recovery does not see them. Ends their processes on this machine and removes their files.
 */
export async function removeMovedRuns(
  { stateDir, jobs }: Pick<StateManager, "stateDir" | "jobs">,
  nodeId: string,
): Promise<void> {
  const jobsDir = join(stateDir, "jobs");
  if (!existsSync(jobsDir)) return;
  for (const jobId of await readdir(jobsDir)) {
    const jobDir = join(jobsDir, jobId);
    const names = await readdir(jobDir).catch(() => []);
    const lastAttempt = lastClaimedAttempt(names);
    if (lastAttempt === undefined ? !names.some(isTempFile) : !hasLeftovers(names)) continue;
    const job = await jobs.get(jobId);
    // Jobs that have not ended are handled by the process that runs them.
    if (job?.node === nodeId && job.finished_at === null) continue;
    if (lastAttempt !== undefined) await killAttempt(jobId, lastAttempt);
    await removeRunFiles(jobDir);
  }
}

async function killAttempt(jobId: string, attempt: number): Promise<void> {
  await killRunProcesses(runTokenOf({ jobId, attempt }));
}

/** The number of the last attempt that a runner on this machine claimed. */
function lastClaimedAttempt(names: readonly string[]): number | undefined {
  const numbers = names.flatMap((name) => {
    const found = /^runner-(\d+)\.json$/.exec(name)?.[1];
    return found === undefined ? [] : [Number(found)];
  });
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

/** A runner that ended normally has left its outcome and no temporary files. */
function hasLeftovers(names: readonly string[]): boolean {
  const temporaryNames = ["private", "proxy", "runner.sock"];
  return (
    !names.includes("outcome.json") ||
    names.some((name) => isTempFile(name) || temporaryNames.includes(name))
  );
}
