import type { AskPerson } from "@herdctl/core/internal";
import type { Approval, FleetControl } from "@herdctl/protocol";

/** Prompts for every approval of a job until the signal aborts; withdraws those answered elsewhere. */
export async function answerApprovalsOfJob(
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
