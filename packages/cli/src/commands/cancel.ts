import type { FleetControl, Job } from "@herdctl/core";
import { exitCodes, UserError } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { findJob } from "../find-job.ts";
import { withFleet } from "../fleet-access.ts";
import { readState } from "../read-state.ts";
import { harmless } from "../show/harmless.ts";
import { lookOf } from "../show/look.ts";
import { statusColour, statusMark, statusWord } from "../show/status.ts";

export async function run(call: Call): Promise<number> {
  const { options, terminal } = call;
  const [typed] = call.arguments;
  if (typed === undefined) {
    throw new UserError("usage", "which job or agent?", { hint: "herdctl cancel JOB|AGENT" });
  }
  return withFleet(call, async (fleet) => {
    const jobs = await chosenJobs(call, fleet, typed);
    const force = options.force === true;
    const ended = (await Promise.all(jobs.map((job) => cancel(fleet, job, force)))).flat();
    const after = [...new Map(ended.map((job) => [job.id, job])).values()];
    if (terminal.json) terminal.printJson({ jobs: after });
    else if (after.length === 0) terminal.print(`${typed} has nothing to do.`);
    else for (const job of after) terminal.print(line(call, job));
    return exitCodes.success;
  });
}

/** The job, and what others still did for it. */
async function cancel(fleet: FleetControl, { id }: Job, force: boolean): Promise<Job[]> {
  const before = unfinishedBelow(id, await fleet.chain(id));
  const ended = await fleet.cancel(id, { force });
  const others = before.size > 0 ? await fleet.chain(id) : [];
  return [ended, ...others.filter((job) => before.has(job.id))];
}

/** Whoever gave a job stands before it. */
function unfinishedBelow(first: string, chain: readonly Job[]): Set<string> {
  const below = new Set([first]);
  for (const { id, chain: place } of chain) if (below.has(place.parent ?? "")) below.add(id);
  const unfinished = chain.filter((job) => job.id !== first && job.finished_at === null);
  return new Set(unfinished.map(({ id }) => id).filter((id) => below.has(id)));
}

/** An agent stands for all that it does and all that it has still to do. */
async function chosenJobs(call: Call, fleet: FleetControl, typed: string): Promise<Job[]> {
  const { agents } = await fleet.status();
  if (!agents.some((agent) => agent.name === typed)) {
    return [await readState(call, (state) => findJob(state, typed))];
  }
  const unfinished = await readState(call, (state) => state.jobs.unfinished());
  return unfinished.filter((job) => job.agent === typed);
}

function line({ terminal }: Call, job: Job): string {
  const look = lookOf(terminal);
  const isAsked = job.status === "running";
  const state = isAsked ? "◐ asked to stop" : `${statusMark(job)} ${statusWord(job)}`;
  return `${look.colors.bold(harmless(job.agent))}  ${look.colors.dim(job.id)}  ${statusColour(job, look)(state)}`;
}
