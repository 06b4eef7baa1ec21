import { setTimeout as delay } from "node:timers/promises";
import type { Job, JobOutput, OutputLine, SDKMessage } from "@herdctl/core";
import { isFinished, UserError } from "@herdctl/core/light";
import type { FleetReading } from "@herdctl/server/mcp";
import type { Call } from "../command.ts";
import { fleetFileOf } from "../fleet-access.ts";
import { readState } from "../read-state.ts";

const lookEvery = 250;

/** What the state and the files tell of a fleet that does not run. */
export function stateReading(call: Call): FleetReading {
  const load = async () => {
    const core = await import("@herdctl/core");
    return { ...core, loaded: core.loadFleet(fleetFileOf(call), call.env) };
  };
  return {
    status: async () => {
      const { viewAgents, loaded } = await load();
      const agents = await readState(call, (state) => viewAgents(loaded, state));
      return { fleet: null, agents };
    },
    schedules: async () => {
      const { viewSchedules, loaded } = await load();
      return readState(call, (state) => viewSchedules(loaded.fleet, state, new Date()));
    },
    jobs: (query) => readState(call, (state) => state.jobs.list(query)),
    job: (id) =>
      readState(call, async (state) => {
        const job = await state.jobs.get(id);
        return job && { job, attempts: await state.jobs.attempts(id) };
      }),
    approvals: () => readState(call, (state) => state.approvals.open()),
    output: (id, { from } = {}) => outputOf(call, id, from),
    wait: (id, signal) => untilFinished(call, id, signal),
  };
}

async function* outputOf(call: Call, id: string, from?: number): AsyncGenerator<JobOutput> {
  const job = await jobNow(call, id);
  const { readLog } = await import("@herdctl/core/state");
  const lines = await readState(call, async (state) => {
    const read: OutputLine[] = [];
    for await (const line of readLog(state, job, { from })) read.push(line);
    return read;
  });
  for (const { message, offset } of lines) {
    // The edge: what lies in the log came from claude.
    yield { message: message as unknown as SDKMessage, offset };
  }
}

/** A fleet that comes up meanwhile goes on with the job, and the state tells of it. */
async function untilFinished(call: Call, id: string, signal?: AbortSignal): Promise<Job> {
  for (;;) {
    const job = await jobNow(call, id);
    if (isFinished(job.status)) return job;
    await delay(lookEvery, undefined, { signal });
  }
}

async function jobNow(call: Call, id: string): Promise<Job> {
  const job = await readState(call, (state) => state.jobs.get(id));
  if (job) return job;
  throw new UserError("job_not_found", `there is no job ${id}`);
}
