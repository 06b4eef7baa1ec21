import { type Job, UserError } from "@herdctl/protocol";
import { z } from "zod";
import { readOutput } from "../../store/files/output-reader.ts";
import type { StateManager } from "../../store/state-manager.ts";

/** Returns the job, marked as untrusted unless it certainly read no text from outside. */
export async function markIfUntrusted(
  state: Pick<StateManager, "jobs">,
  jobId: string,
): Promise<Job> {
  const job = await state.jobs.get(jobId);
  if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
  if (job.untrusted || !(await mayHaveReadUntrustedInput(job))) return job;
  await state.jobs.update(jobId, { untrusted: true });
  return { ...job, untrusted: true };
}

async function mayHaveReadUntrustedInput(job: Job): Promise<boolean> {
  // A program in the container can write lines of the log, and leave lines out.
  // defence: docker-log-untrusted
  if (job.session_home === "docker") return true;
  // Text that earlier runs of the session read is still in its context.
  if (job.resumed_from !== null || job.forked_from !== null) return true;
  for await (const { message } of readOutput(job.output_file)) {
    const { data } = toolUseSchema.safeParse(message);
    if (
      data?.message.content.some(
        ({ name }) =>
          name !== undefined &&
          /* defence: unknown-tool-untrusted */ /* defence: foreign-tool-untrusted */ !trustedTools.has(
            name,
          ),
      )
    )
      return true;
  }
  return false;
}

/**
 * Tools whose answers contain only text of the agent, its fleet or a person. Any other tool may
 * bring in text of strangers: a page, a file of a repository, the output of a command, or notes
 * that an earlier run made of them.
 */
const trustedTools = new Set([
  ...["report", "ask", "artifact", "progress", "schedule", "delegate"].map(
    (name) => `mcp__herd__${name}`,
  ),
  ...["TodoWrite", "Write", "ExitPlanMode", "AskUserQuestion"],
]);

const toolUseSchema = z.object({
  type: z.literal("assistant"),
  message: z.object({ content: z.array(z.object({ name: z.string().optional() })) }),
});
