import type { AgentStatus, ScheduleView } from "@herdctl/core";
import { type Fence, jobSchema, newFence, outcomeCodeSchema } from "@herdctl/core/records";
import { z } from "zod";
import { jobQuerySchema } from "../../contract/jobs.ts";
import { scheduleViewSchema } from "../../contract/schedules.ts";
import { fleetStatusSchema } from "../../contract/status.ts";
import { fleetTool, looking } from "../fleet-tool.ts";
import { briefOf, briefSchema } from "../job-words.ts";

const ofAgent = { agent: jobSchema.shape.agent.optional().describe("Only of this agent") };

const status = fleetTool({
  name: "fleet_status",
  title: "Status of the fleet",
  description:
    "Whether the herdctl fleet runs, since when, how much is pending, running and waiting, what it cost today, and how many questions wait for a person.",
  hints: looking,
  input: z.object({}),
  output: z.object({
    running: z.boolean().describe("False: the rest is from the state on disk"),
    fleet: fleetStatusSchema.shape.fleet.nullable(),
    agents: z.array(z.string()),
    open_approvals: z.number().int(),
  }),
  call: ({ road }) =>
    road.read(async (fleet) => {
      const [now, approvals] = await Promise.all([fleet.status(), fleet.approvals()]);
      const agents = now.agents.map(({ name }) => name);
      const running = now.fleet !== null;
      return { data: { running, fleet: now.fleet, agents, open_approvals: approvals.length } };
    }),
});

const agents = fleetTool({
  name: "list_agents",
  title: "Agents of the fleet",
  description:
    "The agents: what each is for, what it does now and waits for, its schedules, its last job, what it cost today.",
  hints: looking,
  input: z.object({}),
  output: z.object({ notice: z.string(), agents: fleetStatusSchema.shape.agents }),
  call: ({ road }) =>
    road.read(async (fleet) => {
      const { agents } = await fleet.status();
      const fence = newFence();
      const fenced = agents.map((agent) => withFencedWork(agent, fence));
      return { data: { notice: fence.notice, agents: fenced } };
    }),
});

/** What an agent does is told in its own words. */
function withFencedWork(agent: AgentStatus, fence: Fence): AgentStatus {
  const fenced = <T extends { doing: string }>(run: T): T => ({
    ...run,
    doing: fence.wrap("job.doing", run.doing, longestPrompt),
  });
  return { ...agent, running: agent.running.map(fenced) };
}

const longestPrompt = 2_000;

/** What an agent has planned to be told. */
function withFencedPrompt(view: ScheduleView, fence: Fence): ScheduleView {
  const { prompt } = view;
  return prompt === null
    ? view
    : { ...view, prompt: fence.wrap("schedule.prompt", prompt, longestPrompt) };
}

const schedules = fleetTool({
  name: "list_schedules",
  title: "Schedules",
  description:
    "Schedules that go by the clock, with their next due times and what became of the last one.",
  hints: looking,
  input: z.object(ofAgent),
  output: z.object({ notice: z.string(), schedules: z.array(scheduleViewSchema) }),
  call: ({ road }, { agent }) =>
    road.read(async (fleet) => {
      const all = await fleet.schedules();
      const own = all.filter((one) => one.agent === (agent ?? one.agent));
      const fence = newFence();
      const schedules = own.map((view) => withFencedPrompt(view, fence));
      return { data: { notice: fence.notice, schedules } };
    }),
});

const jobs = fleetTool({
  name: "list_jobs",
  title: "Jobs",
  description:
    "Jobs, newest first, a page at a time: give `next` as `cursor` for the page after. `get_job` tells more of one.",
  hints: looking,
  input: z.object({
    ...ofAgent,
    status: jobQuerySchema.shape.status,
    outcome: outcomeCodeSchema.optional(),
    since: z.iso.datetime({ offset: true }).optional().describe("Only those made since then"),
    limit: z.number().int().min(1).max(100).default(20),
    cursor: z.string().optional(),
  }),
  output: z.object({ jobs: z.array(briefSchema), next: z.string().nullable() }),
  call: ({ road }, { since, ...query }) =>
    road.read(async (fleet) => {
      const page = await fleet.jobs({ ...query, since: since ? new Date(since) : undefined });
      return { data: { jobs: page.jobs.map(briefOf), next: page.next } };
    }),
});

export const lookTools = [status, agents, schedules, jobs];
