import type { FleetParts } from "../parts.ts";
import type { Errand } from "./errand.ts";

/** While it waits for another agent, its place in the fleet is free for that one. */
export async function beginWaiting(
  parts: FleetParts,
  { jobId }: Errand,
  otherId: string,
): Promise<void> {
  const waits_for = [...(await others(parts, jobId, otherId)), otherId];
  const { job } = await parts.state.jobs.update(jobId, { status: "waiting", waits_for });
  parts.context.hub.emit({ type: "job:waiting", job });
  parts.dispatcher.kick();
}

/** A fleet process that lets go of the run leaves it waiting: the next one goes on from there. */
export async function stopWaiting(
  parts: FleetParts,
  { jobId, approvals, left }: Errand,
  otherId: string,
): Promise<void> {
  if (left.aborted) return;
  const waits_for = await others(parts, jobId, otherId);
  const isWaiting = waits_for.length > 0 || approvals.isWaiting;
  const status = isWaiting ? ("waiting" as const) : ("running" as const);
  const { job, applied } = await parts.state.jobs.update(jobId, { status, waits_for });
  if (applied && !isWaiting) parts.context.hub.emit({ type: "job:started", job });
}

async function others({ state }: FleetParts, jobId: string, otherId: string): Promise<string[]> {
  const job = await state.jobs.get(jobId);
  return (job?.waits_for ?? []).filter((id) => id !== otherId);
}
