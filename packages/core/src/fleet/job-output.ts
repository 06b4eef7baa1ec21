import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { UserError } from "../errors/user-error.ts";
import { readOutput } from "../state/output-reader.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { JobOutput, OutputOptions } from "./control.ts";
import type { EventHub } from "./event-hub.ts";
import { waitForJob } from "./wait-for-job.ts";

/** The log of a job; followed, it ends when the job has ended and all of it was read. */
export async function* jobOutput(
  parts: { state: StateManager; hub: EventHub },
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
    for await (const { message, offset } of readOutput(job.output_file, {
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
