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
    const after = await Promise.all(jobs.map(({ id }) => fleet.cancel(id, { force })));
    if (terminal.json) terminal.printJson({ jobs: after });
    else if (after.length === 0) terminal.print(`${typed} has nothing to do.`);
    else for (const job of after) terminal.print(line(call, job));
    return exitCodes.success;
  });
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
