import { UserError } from "../errors/user-error.ts";
import { type Admission, admit, type TriggerRequest } from "../queue/admit.ts";
import { cancelJob } from "./cancel-job.ts";
import type { FleetParts } from "./parts.ts";

/** Admits a trigger, tells of it, and has it started as soon as it may be. */
export async function triggerJob(parts: FleetParts, request: TriggerRequest): Promise<Admission> {
  const { context, dispatcher, own, watched } = parts;
  const admission = await admitNoticingTheDisk(parts, request);
  const { job, created, cancel } = admission;
  own.add(job.id);
  if (request.watched) watched.add(job.id);
  if (created) {
    context.hub.emit({ type: job.status === "skipped" ? "job:skipped" : "job:created", job });
    for (const id of cancel) await cancelJob(parts, id, false);
  }
  dispatcher.kick();
  return admission;
}

async function admitNoticingTheDisk(
  { state, context }: FleetParts,
  request: TriggerRequest,
): Promise<Admission> {
  try {
    const admission = await admit(state, context.fleet().agents, request);
    context.writable(undefined);
    return admission;
  } catch (error) {
    const isFull = error instanceof UserError && error.code === "state_unavailable";
    if (isFull) context.writable(error.message);
    throw error;
  }
}
