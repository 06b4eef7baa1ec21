import type { StateManager } from "@herdctl/core";
import { explainWait, type FleetControl, type Job, type WaitExplanation } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";
import { resolveFleetFile } from "./find-fleet.ts";
import { queryFleetOrState } from "./query-fleet-or-state.ts";
import { formatTime } from "./render/wait-text.ts";

type Explain = (job: Job) => WaitExplanation | undefined;

/** Explains why jobs wait, from the state of the running fleet. */
export async function readWaitReasons(fleet: FleetControl): Promise<Explain> {
  const [status, approvals] = await Promise.all([fleet.status(), fleet.approvals.list()]);
  return (job) =>
    explainWait(job, {
      agent: status.agents.find(({ name }) => name === job.agent),
      fleet: status.fleet,
      approvals,
      formatTime,
    });
}

/** The same while no fleet is running. Nothing is read if no job waits. */
export async function explainWaits(context: CommandContext, jobs: Job[]): Promise<Explain> {
  if (jobs.every(({ status }) => status !== "pending" && status !== "waiting"))
    return () => undefined;
  return queryFleetOrState(context, readWaitReasons, (state) => readFromState(context, state));
}

async function readFromState(context: CommandContext, state: StateManager): Promise<Explain> {
  const { loadFleet, viewAgents } = await import("@herdctl/core/internal");
  const agents = await viewAgents(loadFleet(resolveFleetFile(context), context.env), state);
  const approvals = await state.approvals.listOpen();
  return (job) => {
    const agent = agents.find(({ name }) => name === job.agent);
    return explainWait(job, { agent, fleet: undefined, approvals, formatTime });
  };
}
