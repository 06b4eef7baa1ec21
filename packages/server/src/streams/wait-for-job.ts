import { type FleetControl, type Job, UserError } from "@herdctl/protocol";

/** Returns the finished job, or the current one after the timeout. */
export async function waitForJob(
  control: { jobs: Pick<FleetControl["jobs"], "get" | "wait"> },
  jobId: string,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<Job> {
  const abortController = new AbortController();
  const abort = () => abortController.abort();
  const timer = setTimeout(abort, timeoutSeconds * 1000);
  signal.addEventListener("abort", abort, { once: true });
  const timedOut = new Promise<undefined>((resolve) => {
    abortController.signal.addEventListener("abort", () => resolve(undefined));
    if (signal.aborted) abort();
  });
  try {
    const finished = control.jobs
      .wait(jobId, { signal: abortController.signal })
      .catch((error: unknown) => {
        if (!abortController.signal.aborted) throw error;
        return undefined;
      });
    const job = await Promise.race([finished, timedOut]);
    if (job) return job;
    if (signal.aborted) throw new UserError("fleet_unreachable", "the fleet is stopping");
    return await readCurrentJob(control, jobId);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

async function readCurrentJob(
  control: { jobs: Pick<FleetControl["jobs"], "get"> },
  jobId: string,
): Promise<Job> {
  const record = await control.jobs.get(jobId);
  if (record) return record.job;
  throw new UserError("job_not_found", `there is no job ${jobId}`);
}
