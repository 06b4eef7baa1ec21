import type { FleetControl, Job } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";

/** The finished record, or the record as it stands when the patience is over. */
export async function waitForJob(
  control: Pick<FleetControl, "wait" | "job">,
  jobId: string,
  seconds: number,
  signal: AbortSignal,
): Promise<Job> {
  const patience = new AbortController();
  const giveUp = () => patience.abort();
  const timer = setTimeout(giveUp, seconds * 1000);
  signal.addEventListener("abort", giveUp, { once: true });
  const over = new Promise<undefined>((resolve) => {
    patience.signal.addEventListener("abort", () => resolve(undefined));
    if (signal.aborted) giveUp();
  });
  try {
    const finished = control.wait(jobId, patience.signal).catch((error: unknown) => {
      if (!patience.signal.aborted) throw error;
      return undefined;
    });
    const job = await Promise.race([finished, over]);
    if (job) return job;
    if (signal.aborted) throw new UserError("fleet_unreachable", "the fleet is stopping");
    return await jobAsItStands(control, jobId);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}

async function jobAsItStands(control: Pick<FleetControl, "job">, jobId: string): Promise<Job> {
  const found = await control.job(jobId);
  if (found) return found.job;
  throw new UserError("job_not_found", `there is no job ${jobId}`);
}
