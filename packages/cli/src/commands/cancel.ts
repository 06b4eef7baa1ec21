import {
  type CancelAllResult,
  exitCodes,
  type FleetControl,
  type Job,
  UserError,
} from "@herdctl/protocol";
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
    const force = options.force === true;
    if (await fleet.agents.get(target)) {
      const result = await fleet.jobs.cancelAll({ agent: target, force });
      if (terminal.isJson) terminal.printJson({ agent: target, ...result });
      else terminal.print(agentResultLine(target, result));
      return exitCodes.success;
    }
    const job = await readState(context, (state) => findJob(state, target));
    const jobs = await cancel(fleet, job, force);
    if (terminal.isJson) terminal.printJson({ jobs });
    else for (const cancelledJob of jobs) terminal.print(resultLine(context, cancelledJob));
    return exitCodes.success;
  });
}

function agentResultLine(agent: string, { cancelled, stopping }: CancelAllResult): string {
  if (cancelled + stopping === 0) return `${agent} has no jobs to cancel.`;
  const parts = [
    ...(cancelled > 0 ? [`cancelled ${cancelled} ${cancelled === 1 ? "job" : "jobs"}`] : []),
    ...(stopping > 0 ? [`stopping ${stopping} running ${stopping === 1 ? "job" : "jobs"}`] : []),
  ];
  return `${agent}: ${parts.join(", ")}.`;
}

/** Cancels the job. Returns it with the unfinished jobs delegated from it, which end too. */
async function cancel(fleet: FleetControl, { id }: Job, force: boolean): Promise<Job[]> {
  const before = unfinishedDescendants(id, await fleet.jobs.chain(id));
  const ended = await fleet.jobs.cancel(id, { force });
  const others = before.size > 0 ? await fleet.jobs.chain(id) : [];
  return [ended, ...others.filter((job) => before.has(job.id))];
}

/** The chain lists parents before their children. */
function unfinishedDescendants(first: string, chain: readonly Job[]): Set<string> {
  const descendantIds = new Set([first]);
  for (const job of chain) if (descendantIds.has(job.chain.parent ?? "")) descendantIds.add(job.id);
  const unfinished = chain.filter((job) => job.id !== first && job.finished_at === null);
  return new Set(unfinished.map(({ id }) => id).filter((id) => descendantIds.has(id)));
}

function resultLine({ terminal }: CommandContext, job: Job): string {
  const style = terminalStyleOf(terminal);
  const isStopRequested = job.status === "running";
  const state = isStopRequested ? "◐ stopping" : `${statusMark(job)} ${statusText(job)}`;
  return `${style.colors.bold(sanitizeText(job.agent))}  ${style.colors.dim(job.id)}  ${statusColor(job, style)(state)}`;
}
