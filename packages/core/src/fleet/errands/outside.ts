import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";
import type { Job } from "../../state/job.ts";
import { readOutput } from "../../state/output-reader.ts";
import type { StateManager } from "../../state/state-manager.ts";

/** The job, marked as one that may have read text from outside unless it certainly did not. */
export async function noteOutside(state: Pick<StateManager, "jobs">, jobId: string): Promise<Job> {
  const job = await state.jobs.get(jobId);
  if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
  if (job.untrusted || !(await mayHaveReadOutside(job))) return job;
  await state.jobs.update(jobId, { untrusted: true });
  return { ...job, untrusted: true };
}

async function mayHaveReadOutside(job: Job): Promise<boolean> {
  // A program in the container can write lines of the log, and leave lines out.
  if (job.place === "docker") return true;
  // What earlier runs of the session read is still in it.
  if (job.resumed_from !== null || job.forked_from !== null) return true;
  for await (const { message } of readOutput(job.output_file)) {
    const { data } = toolUses.safeParse(message);
    if (data?.message.content.some(({ name }) => name !== undefined && !bringsNothingIn.has(name)))
      return true;
  }
  return false;
}

/**
 * Tools that answer with nothing but what the agent, its fleet or a person says. Any other tool
 * may bring in what strangers wrote: a page, a file of a repository, the output of a command, or
 * notes that an earlier run made of them.
 */
const bringsNothingIn = new Set([
  ...["report", "ask", "artifact", "progress", "schedule", "delegate"].map(
    (name) => `mcp__herd__${name}`,
  ),
  ...["TodoWrite", "Write", "ExitPlanMode", "AskUserQuestion"],
]);

const toolUses = z.object({
  type: z.literal("assistant"),
  message: z.object({ content: z.array(z.object({ name: z.string().optional() })) }),
});
