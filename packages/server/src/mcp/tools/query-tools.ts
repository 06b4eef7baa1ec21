import { type AgentStatus, createFence, type Fence, type ScheduleView } from "@herdctl/protocol";
import { jobSchema, outcomeCodeSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { jobQuerySchema } from "../../contract/jobs.ts";
import { scheduleViewSchema } from "../../contract/schedules.ts";
import { fleetStatusSchema } from "../../contract/status.ts";
import { defineFleetTool, readOnlyHints } from "../fleet-tool.ts";
import { jobSummarySchema, toJobSummary } from "../job-schemas.ts";

const agentFilter = {
  agent: jobSchema.shape.agent.optional().describe("Limit the list to this agent"),
};

const status = defineFleetTool({
  name: "fleet_status",
  title: "Fleet status",
  description:
    "Returns whether the herdctl fleet is running and since when, its pending, running and waiting jobs, today's cost and the number of open approvals.",
  annotations: readOnlyHints,
  input: z.object({}),
  output: z.object({
    running: z.boolean().describe("If false, the other fields come from the state on disk"),
    fleet: fleetStatusSchema.shape.fleet.nullable(),
    agents: z.array(z.string()),
    open_approvals: z.number().int(),
  }),
  handle: ({ fleetProvider }) =>
    fleetProvider.read(async (fleet) => {
      const [status, approvals] = await Promise.all([fleet.status(), fleet.approvals.list()]);
      const agents = status.agents.map(({ name }) => name);
      const running = status.fleet !== null;
      return { data: { running, fleet: status.fleet, agents, open_approvals: approvals.length } };
    }),
});

const agents = defineFleetTool({
  name: "list_agents",
  title: "List agents",
  description:
    "Lists the agents with their description, current activity, schedules, last job and today's cost.",
  annotations: readOnlyHints,
  input: z.object({}),
  output: z.object({ notice: z.string(), agents: fleetStatusSchema.shape.agents }),
  handle: ({ fleetProvider }) =>
    fleetProvider.read(async (fleet) => {
      const { agents } = await fleet.status();
      const fence = createFence();
      const fencedAgents = agents.map((agent) => fenceActivity(agent, fence));
      return { data: { notice: fence.notice, agents: fencedAgents } };
    }),
});

/** The description of the current activity is text from the agent. */
function fenceActivity(agent: AgentStatus, fence: Fence): AgentStatus {
  const fenced = <T extends { activity: string }>(run: T): T => ({
    ...run,
    activity: fence.wrap("job.activity", run.activity, maxPromptChars),
  });
  return { ...agent, running: agent.running.map(fenced) };
}

const maxPromptChars = 2_000;

/** Prompts of schedules may be written by agents. */
function fencePrompt(view: ScheduleView, fence: Fence): ScheduleView {
  const { prompt } = view;
  return prompt === null
    ? view
    : { ...view, prompt: fence.wrap("schedule.prompt", prompt, maxPromptChars) };
}

const schedules = defineFleetTool({
  name: "list_schedules",
  title: "List schedules",
  description:
    "Lists time-based schedules with their next due times and the result of the last one.",
  annotations: readOnlyHints,
  input: z.object(agentFilter),
  output: z.object({ notice: z.string(), schedules: z.array(scheduleViewSchema) }),
  handle: ({ fleetProvider }, { agent }) =>
    fleetProvider.read(async (fleet) => {
      const views = (await fleet.schedules.list()).filter(
        (view) => agent === undefined || view.agent === agent,
      );
      const fence = createFence();
      const schedules = views.map((view) => fencePrompt(view, fence));
      return { data: { notice: fence.notice, schedules } };
    }),
});

const jobs = defineFleetTool({
  name: "list_jobs",
  title: "List jobs",
  description:
    "Lists jobs, newest first, one page at a time. Pass `next_cursor` as `cursor` to get the next page. Use `get_job` for the details of a job.",
  annotations: readOnlyHints,
  input: z.object({
    ...agentFilter,
    status: jobQuerySchema.shape.status,
    outcome: outcomeCodeSchema.optional(),
    since: z.iso
      .datetime({ offset: true })
      .optional()
      .describe("Only jobs created since this time"),
    limit: z.number().int().min(1).max(100).default(20),
    cursor: z.string().optional(),
  }),
  output: z.object({ jobs: z.array(jobSummarySchema), next_cursor: z.string().nullable() }),
  handle: ({ fleetProvider }, { since, ...query }) =>
    fleetProvider.read(async (fleet) => {
      const page = await fleet.jobs.list({ ...query, since: since ? new Date(since) : undefined });
      return { data: { jobs: page.jobs.map(toJobSummary), next_cursor: page.next_cursor } };
    }),
});

export const queryTools = [status, agents, schedules, jobs];
