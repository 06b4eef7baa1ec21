import { exitCodes, type FleetControl, type Job, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { statusColor, statusMark, statusText } from "../render/job-status.ts";
import { sanitizeText } from "../render/sanitize-text.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const [target] = context.arguments;
  if (target === undefined) {
    throw new UserError("usage", "the job or agent is missing", {
      hint: "Run `herdctl cancel JOB` or `herdctl cancel AGENT`.",
    });
  }
  return withFleet(context, async (fleet) => {
    const jobs = await findTargetJobs(context, fleet, target);
    const force = options.force === true;
    const ended = (await Promise.all(jobs.map((job) => cancel(fleet, job, force)))).flat();
    const cancelledJobs = [...new Map(ended.map((job) => [job.id, job])).values()];
    if (terminal.isJson) terminal.printJson({ jobs: cancelledJobs });
    else if (cancelledJobs.length === 0) terminal.print(`${target} has no jobs to cancel.`);
    else for (const job of cancelledJobs) terminal.print(resultLine(context, job));
    return exitCodes.success;
  });
}

/** Cancels the job. Returns it with the unfinished jobs delegated from it, which end too. */
async function cancel(fleet: FleetControl, { id }: Job, force: boolean): Promise<Job[]> {
  const before = unfinishedDescendants(id, await fleet.chain(id));
  const ended = await fleet.cancel(id, { force });
  const others = before.size > 0 ? await fleet.chain(id) : [];
  return [ended, ...others.filter((job) => before.has(job.id))];
}

/** The chain lists parents before their children. */
function unfinishedDescendants(first: string, chain: readonly Job[]): Set<string> {
  const descendantIds = new Set([first]);
  for (const job of chain) if (descendantIds.has(job.chain.parent ?? "")) descendantIds.add(job.id);
  const unfinished = chain.filter((job) => job.id !== first && job.finished_at === null);
  return new Set(unfinished.map(({ id }) => id).filter((id) => descendantIds.has(id)));
}

/** The named job, or all unfinished jobs of the named agent. */
async function findTargetJobs(
  context: CommandContext,
  fleet: FleetControl,
  target: string,
): Promise<Job[]> {
  const { agents } = await fleet.status();
  if (!agents.some((agent) => agent.name === target)) {
    return [await readState(context, (state) => findJob(state, target))];
  }
  const unfinished = await readState(context, (state) => state.jobs.listUnfinished());
  return unfinished.filter((job) => job.agent === target);
}

function resultLine({ terminal }: CommandContext, job: Job): string {
  const style = terminalStyleOf(terminal);
  const isStopRequested = job.status === "running";
  const state = isStopRequested ? "◐ stopping" : `${statusMark(job)} ${statusText(job)}`;
  return `${style.colors.bold(sanitizeText(job.agent))}  ${style.colors.dim(job.id)}  ${statusColor(job, style)(state)}`;
}
