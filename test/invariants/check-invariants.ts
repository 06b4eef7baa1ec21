import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StateManager } from "@herdctl/core/internal";
import { checkJobs, type JobCase, readJobCases } from "./check-jobs.ts";
import { checkLeftovers } from "./check-leftovers.ts";
import { checkSecrets } from "./check-secrets.ts";
import { checkLock, checkState } from "./check-state.ts";
import type { ObservedRun, Violation } from "./observed-run.ts";

export interface OracleVerdict {
  cases: JobCase[];
  /** Everything lost, doubled, left, readable or damaged. */
  violations: Violation[];
}

const pollIntervalMs = 200;
/** A planned fault may delay the exit of a finished runner by up to 8 s. */
const defaultTimeoutMs = 12_000;

/**
 * Compares the store, folders, process table, engine and the model's ledger with each other. The
 * fleet must have stopped.
 */
export async function consultOracle(
  run: ObservedRun,
  timeoutMs = defaultTimeoutMs,
): Promise<OracleVerdict> {
  const { shared } = run;
  const stateDirs = (shared?.files ?? [run.file]).map((file) => join(dirname(file), ".herdctl"));
  const [stateDir = ""] = stateDirs;
  const damage = shared ? stateDirs.flatMap(checkLock) : checkState(stateDir);
  if (damage.length > 0) return { cases: [], violations: damage };
  const state = await openStateWithRetry(stateDir, shared?.store);
  try {
    const cases = await readJobCases(run, state);
    const wrong = [
      ...(await checkJobs(run, state, cases)),
      ...(await waitForLeftovers(
        () => stateDirs.flatMap((folder) => checkLeftovers(run, folder, cases)),
        timeoutMs,
      )),
      ...stateDirs.flatMap((folder) => checkSecrets(run, folder)),
    ];
    return { cases, violations: wrong };
  } finally {
    await state.close();
  }
}

/** A shared store on a busy machine may answer too late, which is no violation. */
export async function openStateWithRetry(stateDir: string, store?: string): Promise<StateManager> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await new StateManager(stateDir).open({ readOnly: true, store });
    } catch (error) {
      if (store === undefined || tries >= 10) throw error;
      await delay(1_000);
    }
  }
}

/** Reports only what is still there after the timeout. */
async function waitForLeftovers(
  findLeftovers: () => Violation[],
  timeoutMs: number,
): Promise<Violation[]> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const wrong = findLeftovers();
    if (wrong.length === 0 || Date.now() > deadline) return wrong;
    await delay(pollIntervalMs);
  }
}
