import type { Job } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { chainLines } from "../show/chain-tree.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const [typed] = call.arguments;
  if (typed === undefined) {
    throw new UserError("usage", "which job?", { hint: "Run `herdctl jobs` to see their ids." });
  }
  const jobs = await readState(call, async (state): Promise<Job[]> => {
    const { chain } = await findJob(state, typed);
    return state.jobs.chain(chain.id);
  });
  if (terminal.json) terminal.printJson({ jobs });
  else for (const line of chainLines(jobs, lookOf(terminal))) terminal.print(line);
  return 0;
}
