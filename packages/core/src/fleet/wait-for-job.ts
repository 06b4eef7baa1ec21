import { UserError } from "../errors/user-error.ts";
import type { Job } from "../state/job.ts";
import { isFinished } from "../state/job-status.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { FleetEvent } from "./control.ts";
import type { EventHub } from "./event-hub.ts";

/** The finished record of a job, as soon as there is one. */
export async function waitForJob(
  { state, hub }: { state: StateManager; hub: EventHub },
  id: string,
  signal?: AbortSignal,
): Promise<Job> {
  const ended = new AbortController();
  const stop = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
  // Listening begins before the record is read, so that no end can fall between the two.
  const events = hub.stream(stop);
  let forget: () => void = () => undefined;
  const found = new Promise<Job>((resolve) => {
    const look = async () => {
      const job = await state.jobs.get(id).catch(() => undefined);
      if (job && isFinished(job.status)) resolve(job);
    };
    forget = hub.onMissed(() => void look());
  });
  try {
    const job = await state.jobs.get(id);
    if (!job) throw new UserError("job_not_found", `there is no job ${id}`);
    return isFinished(job.status) ? job : await Promise.race([heard(events, id), found]);
  } finally {
    forget();
    ended.abort();
  }
}

async function heard(events: AsyncIterable<FleetEvent>, id: string): Promise<Job> {
  for await (const event of events) {
    if ("job" in event && event.job.id === id && isFinished(event.job.status)) return event.job;
  }
  throw new UserError("fleet_unreachable", "the fleet was stopped before the job ended");
}
