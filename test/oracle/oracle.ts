import { dirname, join } from "node:path";
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

/**
 * Reads store, folders, process table, engine and the model's ledger, and believes none of them
 * alone. The fleet must have stopped.
 */
export async function consultOracle(story: Story): Promise<Verdict> {
  const stateDir = join(dirname(story.file), ".herdctl");
  const damage = judgeState(stateDir);
  if (damage.length > 0) return { cases: [], wrong: damage };
  const state = await new StateManager(stateDir).open({ readOnly: true });
  try {
    const cases = await casesOf(story, state);
    const wrong = [
      ...(await judgeJobs(story, state, cases)),
      ...judgeLeftovers(story, stateDir, cases),
      ...judgeSecrets(story, stateDir),
    ];
    return { cases, wrong };
  } finally {
    await state.close();
  }
}
