import { type Admission, isFinished, type Job, UserError } from "@herdctl/protocol";
import type { Actor } from "../../store/model/identity.ts";
import type { JobServices } from "../services.ts";
import type { Candidate } from "./admit.ts";
import { admitJob } from "./trigger-job.ts";

/** Runs the prompt of a finished job again. Its gate is not asked, and no work item is claimed. */
export async function retryJob(
  services: JobServices,
  jobId: string,
  fresh: boolean,
  actor: Actor,
): Promise<Admission> {
  const job = await getJob(services, jobId);
  if (!isFinished(job.status)) throw unfinishedError(job);
  const agent = services.fleet().agents.find(({ name }) => name === job.agent);
  const candidate = retryCandidate(job, Object.keys(agent?.schedules ?? {}), fresh, actor);
  const admission = await admitJob(services, candidate);
  return { job: admission.job, created: admission.created };
}

/** Text from outside stays untrusted, and a schedule still asks for its report. */
export function retryCandidate(
  job: Pick<Job, "agent" | "prompt" | "schedule" | "session_id" | "untrusted" | "expand_prompt">,
  schedules: readonly string[],
  fresh: boolean,
  actor: Actor,
): Candidate {
  const { schedule } = job;
  return {
    request: {
      trigger: "manual",
      agent: job.agent,
      prompt: job.prompt,
      expand: job.expand_prompt,
      ...(schedule !== null && schedules.includes(schedule) && { schedule }),
      ...(!fresh && job.session_id !== null && { resume: job.session_id }),
    },
    by: actor.identity,
    overlap: "allow",
    untrusted: job.untrusted,
  };
}

/** The next attempt of a waiting job starts now instead of at the end of its wait. */
export async function tryJobNow(services: JobServices, jobId: string): Promise<Job> {
  const { state, dispatcher } = services;
  const job = await getJob(services, jobId);
  if (job.status !== "waiting" || job.due_at === null)
    throw new UserError(
      "usage",
      `${jobId} does not wait for a limit or a retry: it is ${job.status}`,
      {
        hint: isFinished(job.status)
          ? `Run \`herdctl retry ${jobId}\` to run it again.`
          : `Run \`herdctl job ${jobId}\` to see what it waits for.`,
      },
    );
  const change = { due_at: new Date().toISOString() };
  const { job: changed } = await state.jobs.update(jobId, change);
  dispatcher.wake();
  return changed;
}

async function getJob({ state }: JobServices, id: string): Promise<Job> {
  const job = await state.jobs.get(id);
  if (job) return job;
  throw new UserError("job_not_found", `there is no job ${id}`);
}

function unfinishedError({ id, status, due_at }: Job): UserError {
  const isWaiting = status === "waiting" && due_at !== null;
  return new UserError("usage", `${id} has not finished: it is ${status}`, {
    hint: isWaiting
      ? `Run \`herdctl retry ${id} --try-now\` to end its wait.`
      : `Cancel it first with \`herdctl cancel ${id}\`.`,
  });
}
