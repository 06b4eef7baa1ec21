import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sweepRun } from "../../runner/sweep/sweep-run.ts";
import { isDraft, removeTraces } from "../../runner-process/remove-traces.ts";
import { runTokensOf } from "../../runner-process/run-tokens.ts";
import type { StateManager } from "../../state/state-manager.ts";

/**
 * What this node had begun may have gone on elsewhere while it counted as lost, so that no recovery
 * comes by: what still runs of it on this machine is ended, and what lies about is removed.
 */
export async function sweepMoved(
  { stateDir, jobs }: Pick<StateManager, "stateDir" | "jobs">,
  here: string,
): Promise<void> {
  const folder = join(stateDir, "jobs");
  if (!existsSync(folder)) return;
  for (const jobId of await readdir(folder)) {
    const jobDir = join(folder, jobId);
    const names = await readdir(jobDir).catch(() => []);
    const last = lastClaimed(names);
    if (last === undefined ? !names.some(isDraft) : !isUntidy(names)) continue;
    const job = await jobs.get(jobId);
    // What has not ended here is seen to by those who run it.
    if (job?.node === here && job.finished_at === null) continue;
    if (last !== undefined) await sweepAttempt(jobDir, jobId, last);
    await removeTraces(jobDir);
  }
}

async function sweepAttempt(jobDir: string, jobId: string, attempt: number): Promise<void> {
  const { own } = await runTokensOf(jobDir, { jobId, attempt });
  for (const token of own) await sweepRun(token);
}

/** The number of the last attempt that a runner of this machine took on. */
function lastClaimed(names: readonly string[]): number | undefined {
  const numbers = names.flatMap((name) => {
    const found = /^runner-(\d+)\.json$/.exec(name)?.[1];
    return found === undefined ? [] : [Number(found)];
  });
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

/** A runner that came to its end has left its word, and nothing else that is not to stay. */
function isUntidy(names: readonly string[]): boolean {
  const passing = ["private", "door", "runner.sock"];
  return (
    !names.includes("outcome.json") || names.some((name) => isDraft(name) || passing.includes(name))
  );
}
