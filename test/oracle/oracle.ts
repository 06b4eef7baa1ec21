import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StateManager } from "@herdctl/core";
import { type Case, casesOf, judgeJobs } from "./judge-jobs.ts";
import { judgeLeftovers } from "./judge-leftovers.ts";
import { judgeSecrets } from "./judge-secrets.ts";
import { judgeLock, judgeState } from "./judge-state.ts";
import type { Story, Wrong } from "./story.ts";

export interface Verdict {
  cases: Case[];
  /** Everything lost, doubled, left, readable or damaged. */
  wrong: Wrong[];
}

const lookEvery = 200;
/** A runner that has given its word may be held up before it is gone, by a fault of 8 s at most. */
const usualPatience = 12_000;

/**
 * Reads store, folders, process table, engine and the model's ledger, and believes none of them
 * alone. The fleet must have stopped.
 */
export async function consultOracle(story: Story, patience = usualPatience): Promise<Verdict> {
  const { shared } = story;
  const stateDirs = (shared?.files ?? [story.file]).map((file) => join(dirname(file), ".herdctl"));
  const [stateDir = ""] = stateDirs;
  const damage = shared ? stateDirs.flatMap(judgeLock) : judgeState(stateDir);
  if (damage.length > 0) return { cases: [], wrong: damage };
  const state = await openPatiently(stateDir, shared?.store);
  try {
    const cases = await casesOf(story, state);
    const wrong = [
      ...(await judgeJobs(story, state, cases)),
      ...(await whatStays(
        () => stateDirs.flatMap((folder) => judgeLeftovers(story, folder, cases)),
        patience,
      )),
      ...stateDirs.flatMap((folder) => judgeSecrets(story, folder)),
    ];
    return { cases, wrong };
  } finally {
    await state.close();
  }
}

/** A shared store on a busy machine may not answer in time, which says nothing of what it holds. */
export async function openPatiently(stateDir: string, store?: string): Promise<StateManager> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await new StateManager(stateDir).open({ readOnly: true, store });
    } catch (error) {
      if (store === undefined || tries >= 10) throw error;
      await delay(1_000);
    }
  }
}

/** Only what is there for good was left behind. */
async function whatStays(look: () => Wrong[], patience: number): Promise<Wrong[]> {
  const deadline = Date.now() + patience;
  for (;;) {
    const wrong = look();
    if (wrong.length === 0 || Date.now() > deadline) return wrong;
    await delay(lookEvery);
  }
}
