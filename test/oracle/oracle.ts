import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StateManager } from "@herdctl/core";
import { type Case, casesOf, judgeJobs } from "./judge-jobs.ts";
import { judgeLeftovers } from "./judge-leftovers.ts";
import { judgeSecrets } from "./judge-secrets.ts";
import { judgeState } from "./judge-state.ts";
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
  const stateDir = join(dirname(story.file), ".herdctl");
  const damage = judgeState(stateDir);
  if (damage.length > 0) return { cases: [], wrong: damage };
  const state = await new StateManager(stateDir).open({ readOnly: true });
  try {
    const cases = await casesOf(story, state);
    const wrong = [
      ...(await judgeJobs(story, state, cases)),
      ...(await whatStays(() => judgeLeftovers(story, stateDir, cases), patience)),
      ...judgeSecrets(story, stateDir),
    ];
    return { cases, wrong };
  } finally {
    await state.close();
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
