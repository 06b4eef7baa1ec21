import { setTimeout as delay } from "node:timers/promises";
import type { OutputLine } from "@herdctl/core/internal";
import type { ClaudeMessage } from "@herdctl/protocol";
import { isFinished, type Job, type JobOutput, UserError } from "@herdctl/protocol";
import type { FleetReader } from "@herdctl/server/mcp";
import type { CommandContext } from "../command.ts";
import { resolveFleetFile } from "../find-fleet.ts";
import { readState } from "../read-state.ts";

const pollIntervalMs = 250;

/** Reads a fleet that is not running from its state and files. */
export function createStateReader(context: CommandContext): FleetReader {
  const load = async () => {
    const core = await import("@herdctl/core/internal");
    return { ...core, loaded: core.loadFleet(resolveFleetFile(context), context.env) };
  };
  return {
    status: async () => {
      const { viewAgents, loaded } = await load();
      const agents = await readState(context, (state) => viewAgents(loaded, state));
      return { fleet: null, agents };
    },
    schedules: {
      list: async () => {
        const { viewSchedules, loaded } = await load();
        return readState(context, (state) => viewSchedules(loaded.fleet, state, new Date()));
      },
    },
    jobs: {
      list: (query = {}) => readState(context, (state) => state.jobs.list(query)),
      get: (id) =>
        readState(context, async (state) => {
          const job = await state.jobs.get(id);
          return job && { job, attempts: await state.jobs.listAttempts(id) };
        }),
      output: (id, { from } = {}) => readOutput(context, id, from),
      wait: (id, { signal } = {}) => waitUntilFinished(context, id, signal),
    },
    approvals: { list: () => readState(context, (state) => state.approvals.listOpen()) },
  };
}

async function* readOutput(
  context: CommandContext,
  id: string,
  from?: number,
): AsyncGenerator<JobOutput> {
  const job = await requireJob(context, id);
  const { readJobOutput } = await import("@herdctl/core/internal");
  const lines = await readState(context, async (state) => {
    const outputLines: OutputLine[] = [];
    for await (const line of readJobOutput(state, job, { from })) outputLines.push(line);
    return outputLines;
  });
  for (const { message, offset } of lines) {
    // The log contains messages as claude sent them.
    yield { message: message as unknown as ClaudeMessage, offset };
  }
}

/** Polls the state, which changes when a fleet starts and continues the job. */
async function waitUntilFinished(
  context: CommandContext,
  id: string,
  signal?: AbortSignal,
): Promise<Job> {
  for (;;) {
    const job = await requireJob(context, id);
    if (isFinished(job.status)) return job;
    await delay(pollIntervalMs, undefined, { signal });
  }
}

async function requireJob(context: CommandContext, id: string): Promise<Job> {
  const job = await readState(context, (state) => state.jobs.get(id));
  if (job) return job;
  throw new UserError("job_not_found", `there is no job ${id}`);
}
