import type { FleetControl, FleetEvent } from "@herdctl/protocol";

/** The agent of an event; null for events of the whole fleet or of an unknown job. */
export async function findEventAgent(
  fleet: Pick<FleetControl, "jobs">,
  event: FleetEvent,
): Promise<string | null> {
  if ("job" in event) return event.job.agent;
  if ("agent" in event) return event.agent;
  if ("delivery" in event) return event.delivery.agent;
  if ("due" in event) return event.due.agent;
  if ("approval" in event) return findJobAgent(fleet, event.approval.job_id);
  return "hook" in event ? findJobAgent(fleet, event.hook.job_id) : null;
}

async function findJobAgent(fleet: Pick<FleetControl, "jobs">, id: string): Promise<string | null> {
  const record = await fleet.jobs.get(id).catch(() => undefined);
  return record?.job.agent ?? null;
}
