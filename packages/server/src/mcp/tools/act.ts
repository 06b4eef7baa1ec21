import { randomUUID } from "node:crypto";
import { z } from "zod";
import { triggerSchema } from "../../contract/jobs.ts";
import { fleetTool } from "../fleet-tool.ts";
import { briefOf, briefSchema } from "../job-words.ts";

const { agent, schedule, prompt, key, resume, fork } = triggerSchema.shape;

const trigger = fleetTool({
  name: "trigger_agent",
  title: "Trigger an agent",
  description:
    "Gives an agent something to do and answers once the job is durable. Then use `wait_for_job` and `read_job_output`. Without a prompt the agent's own is used, or that of the named schedule.",
  needs: "trigger",
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: z.object({
    agent,
    prompt: prompt.describe("What to do"),
    schedule: schedule.describe("Use the prompt of this schedule"),
    key: key.describe("Trigger once only for this key, however often it is sent"),
    resume: resume.describe("Go on with the session of this job, or with this session"),
    fork: fork.describe("Branch off from the session of this job, or from this session"),
  }),
  output: z.object({
    job: briefSchema,
    created: z.boolean().describe("False: the key was used before, and this is its job"),
  }),
  call: ({ road }, given) => {
    // Should the fleet go away before it has answered, the same is sent again and gives the same job.
    const request = {
      trigger: "manual" as const,
      ...given,
      key: given.key ?? `mcp:${randomUUID()}`,
    };
    return road.act(async (fleet) => {
      const { job, created } = await fleet.trigger(request);
      return { data: { job: briefOf(job), created } };
    });
  },
});

const cancel = fleetTool({
  name: "cancel_job",
  title: "Cancel a job",
  description: "Ends a pending job, asks a running one to stop; `force` does not ask.",
  needs: "cancel",
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.object({
    id: z.string().describe("The whole id of the job"),
    force: z.boolean().default(false),
  }),
  output: z.object({ job: briefSchema }),
  call: ({ road }, { id, force }) =>
    road.act(async (fleet) => ({ data: { job: briefOf(await fleet.cancel(id, { force })) } })),
});

export const actTools = [trigger, cancel];
