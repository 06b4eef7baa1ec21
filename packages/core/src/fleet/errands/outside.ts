import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";
import type { Job } from "../../state/job.ts";
import { readOutput } from "../../state/output-reader.ts";
import type { StateManager } from "../../state/state-manager.ts";

/** The job, marked as one that read text from outside if its log shows that it did. */
export async function noteOutside(state: StateManager, jobId: string): Promise<Job> {
  const job = await state.jobs.get(jobId);
  if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
  if (job.untrusted || !(await hasReadOutside(job))) return job;
  await state.jobs.update(jobId, { untrusted: true });
  return { ...job, untrusted: true };
}

async function hasReadOutside({ output_file }: Job): Promise<boolean> {
  for await (const { message } of readOutput(output_file)) {
    const { data } = toolUses.safeParse(message);
    if (data?.message.content.some(({ name }) => name !== undefined && reachesOut(name)))
      return true;
  }
  return false;
}

/** Tools that exist to bring in what others wrote. What a shell does, nobody can tell by its name. */
function reachesOut(tool: string): boolean {
  if (tool.startsWith("mcp__")) return !tool.startsWith("mcp__herd__");
  return tool === "WebFetch" || tool === "WebSearch";
}

const toolUses = z.object({
  type: z.literal("assistant"),
  message: z.object({ content: z.array(z.object({ name: z.string().optional() })) }),
});
