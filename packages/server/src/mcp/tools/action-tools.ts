import { randomUUID } from "node:crypto";
import { z } from "zod";
import { triggerSchema } from "../../contract/jobs.ts";
import { defineFleetTool } from "../fleet-tool.ts";
import { jobSummarySchema, toJobSummary } from "../job-schemas.ts";

const { agent, schedule, prompt, key, resume, fork } = triggerSchema.shape;

const trigger = defineFleetTool({
  name: "trigger_agent",
  title: "Trigger an agent",
  description:
    "Starts a job of an agent and returns once the job is stored durably. Use `wait_for_job` and `read_job_output` afterwards. Without a prompt, it uses the prompt of the given schedule or the agent's default prompt.",
  requiredAllowance: "trigger",
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  input: z.object({
    agent,
    prompt: prompt.describe("The task for the agent"),
    schedule: schedule.describe("Use the prompt and settings of this schedule"),
    key: key.describe("Idempotency key: repeated calls with the same key return the same job"),
    resume: resume.describe("Id of a session, or of a job whose session to resume"),
    fork: fork.describe("Id of a session, or of a job whose session to fork"),
  }),
  output: z.object({
    job: jobSummarySchema,
    created: z.boolean().describe("False if the key was used before; `job` is the existing job"),
  }),
  handle: ({ fleetProvider }, args) => {
    // If the fleet restarts before it responds, the request is sent again; the key returns the same job.
    const request = {
      ...args,
      key: args.key ?? `mcp:${randomUUID()}`,
    };
    return fleetProvider.control(async (fleet) => {
      const { job, created } = await fleet.jobs.trigger(request);
      return { data: { job: toJobSummary(job), created } };
    });
  },
});

const cancel = defineFleetTool({
  name: "cancel_job",
  title: "Cancel a job",
  description: "Cancels a job. A running agent gets time to stop; `force` kills it immediately.",
  requiredAllowance: "cancel",
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.object({
    id: z.string().describe("The full job id"),
    force: z.boolean().default(false),
  }),
  output: z.object({ job: jobSummarySchema }),
  handle: ({ fleetProvider }, { id, force }) =>
    fleetProvider.control(async (fleet) => ({
      data: { job: toJobSummary(await fleet.jobs.cancel(id, { force })) },
    })),
});

export const actionTools = [trigger, cancel];
