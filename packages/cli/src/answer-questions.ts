import type { Approval, AskPerson, FleetControl } from "@herdctl/core";

/** Puts what a job asks before a person, unless somebody else answers first. Ends with the signal. */
export async function answerQuestions(
  fleet: FleetControl,
  jobId: string,
  ask: AskPerson,
  signal: AbortSignal,
): Promise<void> {
  const open = new Map<string, AbortController>();
  const put = async (approval: Approval) => {
    if (approval.job_id !== jobId || open.has(approval.id)) return;
    const closed = new AbortController();
    open.set(approval.id, closed);
    const word = await ask(approval, AbortSignal.any([signal, closed.signal]));
    if (closed.signal.aborted || signal.aborted) return;
    await fleet.answer(approval.id, word);
  };
  const putQuietly = (approval: Approval) => void put(approval).catch(() => undefined);
  try {
    const events = fleet.events(signal);
    for (const approval of await fleet.approvals()) putQuietly(approval);
    for await (const event of events) {
      if (event.type === "approval:asked") putQuietly(event.approval);
      if (event.type === "approval:answered") open.get(event.approval.id)?.abort();
    }
  } catch {
    // Whoever follows the job hears of a fleet that has gone.
  }
}
