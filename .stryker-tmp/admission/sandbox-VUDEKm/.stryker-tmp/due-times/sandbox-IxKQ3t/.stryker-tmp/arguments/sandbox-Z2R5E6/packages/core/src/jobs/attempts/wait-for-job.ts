import { type FleetEvent, isFinished, type Job, UserError } from "@herdctl/protocol";
import type { EventHub } from "../../lib/event-hub.ts";
import type { StateManager } from "../../store/state-manager.ts";

/** Resolves with the record of a job when it is finished. */
export async function waitForJob(
  { state, hub }: { state: StateManager; hub: EventHub },
  id: string,
  signal?: AbortSignal,
): Promise<Job> {
  const ended = new AbortController();
  const stop = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
  // Listening starts before the record is read, so that no end is missed.
  const events = hub.stream(stop);
  let unsubscribe: () => void = () => undefined;
  const finishedJob = new Promise<Job>((resolve) => {
    const checkRecord = async () => {
      const job = await state.jobs.get(id).catch(() => undefined);
      if (job && isFinished(job.status)) resolve(job);
    };
    unsubscribe = hub.onEventsMissed(() => void checkRecord());
  });
  try {
    const job = await state.jobs.get(id);
    if (!job) throw new UserError("job_not_found", `there is no job ${id}`);
    return isFinished(job.status)
      ? job
      : await Promise.race([waitForEndEvent(events, id), finishedJob]);
  } finally {
    unsubscribe();
    ended.abort();
  }
}

async function waitForEndEvent(events: AsyncIterable<FleetEvent>, id: string): Promise<Job> {
  for await (const event of events) {
    if ("job" in event && event.job.id === id && isFinished(event.job.status)) return event.job;
  }
  throw new UserError("fleet_unreachable", "the fleet was stopped before the job ended");
}
