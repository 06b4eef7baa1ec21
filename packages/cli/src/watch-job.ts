import type { JobCallbacks } from "@herdctl/core/internal";
import type { ClaudeMessage, FleetControl, Job } from "@herdctl/protocol";
import { answerApprovalsOfJob } from "./answer-job-approvals.ts";

/** A fleet in this process, or a client that reconnects when the fleet restarts. */
export interface FleetConnection {
  request<T>(send: (fleet: FleetControl) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Receives the messages of a job and answers its approvals. */
export interface JobWatcher extends Pick<JobCallbacks, "askPerson"> {
  onMessage?(message: ClaudeMessage): void;
}

/** Passes the messages and approvals of a job to the watcher until the job ends. */
export function watchJob(
  connection: FleetConnection,
  jobId: string,
  { onMessage, askPerson }: JobWatcher,
  signal: AbortSignal,
): Promise<Job> {
  let from = 0;
  return connection.request(async (fleet) => {
    const watchEnded = new AbortController();
    const answering = askPerson && answerApprovalsOfJob(fleet, jobId, askPerson, watchEnded.signal);
    try {
      const output = onMessage
        ? fleet.jobs.output(jobId, { from, follow: true, signal: signal })
        : [];
      for await (const { message, offset } of output) {
        from = offset;
        onMessage?.(message);
      }
      return await fleet.jobs.wait(jobId, { signal });
    } finally {
      watchEnded.abort();
      await answering;
    }
  }, signal);
}
