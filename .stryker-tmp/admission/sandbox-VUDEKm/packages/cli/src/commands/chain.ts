import { type Job, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { chainLines } from "../render/chain-tree.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [idPrefix] = context.arguments;
  if (idPrefix === undefined) {
    throw new UserError("usage", "the ID of the job is missing", {
      hint: "Run `herdctl jobs` to list jobs and their IDs.",
    });
  }
  const jobs = await readState(context, async (state): Promise<Job[]> => {
    const { chain } = await findJob(state, idPrefix);
    return state.jobs.listChain(chain.id);
  });
  if (terminal.isJson) terminal.printJson({ jobs });
  else for (const line of chainLines(jobs, terminalStyleOf(terminal))) terminal.print(line);
  return 0;
}
