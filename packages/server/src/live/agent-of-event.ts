import type { FleetControl, FleetEvent } from "@herdctl/core";

/** The agent that an event is about; null when it concerns the whole fleet, or nobody knows. */
export async function agentOfEvent(
  fleet: Pick<FleetControl, "job">,
  event: FleetEvent,
): Promise<string | null> {
  if ("job" in event) return event.job.agent;
  if ("agent" in event) return event.agent;
  if ("delivery" in event) return event.delivery.agent;
  if ("due" in event) return event.due.agent;
  if ("approval" in event) return agentOfJob(fleet, event.approval.job_id);
  return "hook" in event ? agentOfJob(fleet, event.hook.job_id) : null;
}

async function agentOfJob(fleet: Pick<FleetControl, "job">, id: string): Promise<string | null> {
  const found = await fleet.job(id).catch(() => undefined);
  return found?.job.agent ?? null;
}
