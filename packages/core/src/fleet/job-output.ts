import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { UserError } from "../errors/user-error.ts";
import type { Job } from "../state/job.ts";
import { type OutputLine, type ReadOptions, readOutput } from "../state/output-reader.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { JobOutput, OutputOptions } from "./control.ts";
import type { EventHub } from "./event-hub.ts";
import type { NodeSite } from "./nodes/node-site.ts";
import { readShipped } from "./nodes/shipped-output.ts";
import { waitForJob } from "./wait-for-job.ts";

interface OutputParts {
  state: StateManager;
  hub: EventHub;
  site?: Pick<NodeSite, "news"> & { nodes: Pick<NodeSite["nodes"], "id"> };
}

/** The log of a job; followed, it ends when the job has ended and all of it was read. */
export async function* jobOutput(
  parts: OutputParts,
  id: string,
  { from, follow }: OutputOptions = {},
): AsyncGenerator<JobOutput> {
  const job = await parts.state.jobs.get(id);
  if (!job) throw new UserError("job_not_found", `there is no job ${id}`);
  const over = new AbortController();
  const left = new AbortController();
  const stop = follow ? AbortSignal.any([follow, left.signal]) : left.signal;
  let broken: unknown;
  const ended = waitForJob(parts, id, stop)
    .catch((error: unknown) => {
      broken = error;
    })
    .finally(() => over.abort());
  try {
    for await (const { message, offset } of linesOf(parts, job, {
      from,
      follow: follow ? over.signal : undefined,
    })) {
      yield { message: message as SDKMessage, offset };
    }
    // An end in good order would say that the job is over.
    if (follow && !follow.aborted && broken !== undefined) throw broken;
  } finally {
    left.abort();
    await ended;
  }
}

/** From the file where it runs here, else from the store; a job may leave for another node. */
async function* linesOf(
  { state, site }: OutputParts,
  job: Job,
  options: ReadOptions,
): AsyncGenerator<OutputLine> {
  const { shared } = state;
  if (!shared || !site) return yield* readOutput(job.output_file, options);
  let { from } = options;
  if (job.node === site.nodes.id) {
    for await (const line of readOutput(job.output_file, options)) {
      yield line;
      from = line.offset;
    }
    const now = options.follow && (await state.jobs.get(job.id));
    if (!now || now.node === site.nodes.id) return;
  }
  yield* readShipped(shared.outputs, job.id, { ...options, from }, (wake) =>
    site.news.onOutput(job.id, wake),
  );
}
