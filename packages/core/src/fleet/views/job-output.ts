import type { ClaudeMessage } from "@herdctl/protocol";
import { type Job, type JobOutput, type OutputOptions, UserError } from "@herdctl/protocol";
import type { ClusterServices } from "../../cluster/cluster-services.ts";
import { readShippedOutput } from "../../cluster/shipped-output.ts";
import { waitForJob } from "../../jobs/attempts/wait-for-job.ts";
import type { EventHub } from "../../lib/event-hub.ts";
import {
  type OutputLine,
  type ReadOutputOptions,
  readOutput,
} from "../../store/files/output-log.ts";
import type { StateManager } from "../../store/state-manager.ts";

interface JobOutputDeps {
  state: StateManager;
  hub: EventHub;
  cluster?: Pick<ClusterServices, "events"> & { nodes: Pick<ClusterServices["nodes"], "id"> };
}

/** The log of a job. With `follow`, it ends when the job has ended and all of it was read. */
export async function* streamJobOutput(
  deps: JobOutputDeps,
  id: string,
  { from, follow = false, signal }: OutputOptions = {},
): AsyncGenerator<JobOutput> {
  const job = await deps.state.jobs.get(id);
  if (!job) throw new UserError("job_not_found", `there is no job ${id}`);
  const jobEnded = new AbortController();
  const readerStopped = new AbortController();
  const stop = signal ? AbortSignal.any([signal, readerStopped.signal]) : readerStopped.signal;
  let waitError: unknown;
  const ended = waitForJob(deps, id, stop)
    .catch((error: unknown) => {
      waitError = error;
    })
    .finally(() => jobEnded.abort());
  try {
    for await (const { message, offset } of readLines(deps, job, {
      from,
      follow: follow ? jobEnded.signal : undefined,
    })) {
      yield { message: message as ClaudeMessage, offset };
      if (signal?.aborted) break;
    }
    // A normal end would mean that the job is finished.
    if (follow && !signal?.aborted && waitError !== undefined) throw waitError;
  } finally {
    readerStopped.abort();
    await ended;
  }
}

/** Reads the file if the job runs here, else the shared store. A job may move to another node. */
async function* readLines(
  { state, cluster }: JobOutputDeps,
  job: Job,
  options: ReadOutputOptions,
): AsyncGenerator<OutputLine> {
  const { shared } = state;
  if (!shared || !cluster) return yield* readOutput(job.output_file, options);
  let { from } = options;
  if (job.node === cluster.nodes.id) {
    for await (const line of readOutput(job.output_file, options)) {
      yield line;
      from = line.offset;
    }
    const currentJob = options.follow && (await state.jobs.get(job.id));
    if (!currentJob || currentJob.node === cluster.nodes.id) return;
  }
  yield* readShippedOutput(shared.outputs, job.id, { ...options, from }, (wake) =>
    cluster.events.onOutputShipped(job.id, wake),
  );
}
