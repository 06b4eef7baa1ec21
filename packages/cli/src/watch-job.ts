import type { JobCallbacks } from "@herdctl/core";
import type { AskPerson } from "@herdctl/core/internal";
import type { Approval, ClaudeMessage, FleetControl, Job } from "@herdctl/protocol";

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

/** Prompts for every approval of a job until the signal aborts; withdraws those answered elsewhere. */
async function answerApprovalsOfJob(
  fleet: FleetControl,
  jobId: string,
  askPerson: AskPerson,
  signal: AbortSignal,
): Promise<void> {
  const openApprovals = new Map<string, AbortController>();
  const askAndAnswer = async (approval: Approval) => {
    if (approval.job_id !== jobId || openApprovals.has(approval.id)) return;
    const answeredElsewhere = new AbortController();
    openApprovals.set(approval.id, answeredElsewhere);
    const decision = await askPerson(approval, AbortSignal.any([signal, answeredElsewhere.signal]));
    if (answeredElsewhere.signal.aborted || signal.aborted) return;
    await fleet.approvals.answer(approval.id, decision);
  };
  const askInBackground = (approval: Approval) =>
    void askAndAnswer(approval).catch(() => undefined);
  try {
    const events = fleet.events({ signal });
    for (const approval of await fleet.approvals.list()) askInBackground(approval);
    for await (const event of events) {
      if (event.type === "approval:requested") askInBackground(event.approval);
      if (event.type === "approval:answered") openApprovals.get(event.approval.id)?.abort();
    }
  } catch {
    // A lost connection is reported by the caller, which follows the job.
  }
}
