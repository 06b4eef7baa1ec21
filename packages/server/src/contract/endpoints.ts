import {
  approvalSchema,
  deliverySchema,
  deliveryWithBodySchema,
  hookRunSchema,
  jobSchema,
  UserError,
} from "@herdctl/core";
import { z } from "zod";
import { withHeartbeat } from "../live/frames.ts";
import { streamOutput } from "../live/output-stream.ts";
import { mediaTypes, streamResponse } from "../live/stream-response.ts";
import { waitForJob } from "../live/wait-for-job.ts";
import { accessEndpoints } from "./access.ts";
import { answerSchema } from "./answers.ts";
import { auditEndpoints } from "./audit.ts";
import { chatLinkSchema } from "./chat.ts";
import { shownConfigSchema } from "./configuration.ts";
import { costQuerySchema, costViewSchema } from "./costs.ts";
import { deliveryListSchema, deliveryQuerySchema } from "./deliveries.ts";
import { endpoint } from "./endpoint.ts";
import { eventQuerySchema, eventSchema } from "./events.ts";
import { hookQuerySchema } from "./hooks.ts";
import {
  admissionSchema,
  forkSchema,
  jobOutputSchema,
  jobPageSchema,
  jobQuerySchema,
  jobWithAttemptsSchema,
  outputQuerySchema,
  resumeSchema,
  triggerBodyLimit,
  triggerSchema,
  waitQuerySchema,
} from "./jobs.ts";
import { keptFileEndpoints } from "./kept-files.ts";
import { nodeViewSchema } from "./nodes.ts";
import type { RouteName } from "./routes.ts";
import {
  budgetViewSchema,
  duePageSchema,
  dueQuerySchema,
  raiseSchema,
  scheduleViewSchema,
} from "./schedules.ts";
import { sessionViewSchema } from "./sessions.ts";
import { agentStatusSchema, fleetStatusSchema } from "./status.ts";
import { timeline, timelineQuerySchema, timelineSchema } from "./timeline.ts";

const byId = z.object({ id: z.string() });
const byAgent = z.object({ agent: z.string() });
const bySchedule = z.object({ agent: z.string(), schedule: z.string() });

export const endpoints = {
  ...accessEndpoints,
  ...auditEndpoints,
  ...keptFileEndpoints,
  status: endpoint("status", {
    summary: "The fleet and each of its agents: what they do, wait for and have cost today.",
    response: fleetStatusSchema,
    answer: ({ control }) => control.status(),
  }),
  agents: endpoint("agents", {
    summary: "Each agent: what it does, waits for and has cost today.",
    response: z.object({ agents: z.array(agentStatusSchema) }),
    answer: async ({ control }) => ({ agents: (await control.status()).agents }),
  }),
  agent: endpoint("agent", {
    summary: "One agent.",
    params: byAgent,
    response: agentStatusSchema,
    answer: async ({ control }, { params }) => {
      const { agents } = await control.status();
      const found = agents.find(({ name }) => name === params.agent);
      if (found) return found;
      throw new UserError("agent_not_found", `there is no agent \`${params.agent}\``);
    },
  }),
  trigger: endpoint("trigger", {
    summary:
      "Triggers an agent. The answer comes once the job is durable; a key seen before gives the first job.",
    body: triggerSchema,
    bodyLimit: triggerBodyLimit,
    response: admissionSchema,
    answer: ({ control, visitor }, { body }) => {
      // An expanded prompt can read any file that the agent's user can read.
      if (body.expand && visitor.scope !== "admin") {
        const message = `\`expand\` needs the scope \`admin\`, not \`${visitor.scope}\``;
        throw new UserError("insufficient_scope", message);
      }
      return control.trigger(body);
    },
  }),
  jobs: endpoint("jobs", {
    summary: "Jobs, newest first, a page at a time: `next` is the `cursor` of the page after.",
    query: jobQuerySchema,
    response: jobPageSchema,
    answer: ({ control }, { query }) => control.jobs(query),
  }),
  timeline: endpoint("timeline", {
    summary:
      "What ran when since a time, newest first and in short; of more than 3,000 jobs the newest ones, which `whole` tells.",
    query: timelineQuerySchema,
    response: timelineSchema,
    answer: ({ control }, { query }) => timeline(control, query),
  }),
  job: endpoint("job", {
    summary: "One job with its attempts.",
    params: byId,
    response: jobWithAttemptsSchema,
    answer: async ({ control }, { params }) => {
      const found = await control.job(params.id);
      if (found) return found;
      throw new UserError("job_not_found", `there is no job ${params.id}`);
    },
  }),
  wait: endpoint("wait", {
    summary:
      "Answers when the job has finished, or after `timeout` seconds with the job as it stands: ask again while `finished_at` is null.",
    params: byId,
    query: waitQuerySchema,
    response: jobSchema,
    answer: ({ control, connection }, { params, query }) =>
      waitForJob(control, params.id, query.timeout, connection.signal),
  }),
  output: endpoint("output", {
    summary:
      "What the agent said, from the byte `from` on; with `follow=true` until the job has ended. Lines of JSON, or server-sent events when they are accepted.",
    params: byId,
    query: outputQuerySchema,
    response: jobOutputSchema,
    streams: [mediaTypes.lines, mediaTypes.sse],
    answer: async ({ control, jobFeeds, connection, header }, { params, query }) => {
      const { job } = (await control.job(params.id)) ?? {};
      if (!job) throw new UserError("job_not_found", `there is no job ${params.id}`);
      const asEvents = header("accept")?.includes(mediaTypes.sse) ?? false;
      const from = Number(header("last-event-id") ?? query.from ?? 0) || 0;
      const request = { jobId: job.id, from, follow: query.follow === "true", asEvents };
      return streamOutput(jobFeeds, request, connection);
    },
  }),
  chain: endpoint("chain", {
    summary:
      "All jobs of the chain that this one is part of, the oldest first; `chain.parent` says who gave each.",
    params: byId,
    response: z.object({ jobs: z.array(jobSchema) }),
    answer: async ({ control }, { params }) => ({ jobs: await control.chain(params.id) }),
  }),
  cancel: endpoint("cancel", {
    summary:
      "Ends a pending job, asks a running one to stop; `force` does not ask. What its agent handed on ends with it.",
    params: byId,
    body: z.strictObject({ force: z.boolean().optional() }),
    response: jobSchema,
    answer: ({ control }, { params, body }) => control.cancel(params.id, body),
  }),
  approvals: endpoint("approvals", {
    summary:
      "What agents ask and nobody has answered yet; of one `job` all that was ever asked, with its answers.",
    query: z.strictObject({ job: z.string().optional() }),
    response: z.object({ approvals: z.array(approvalSchema) }),
    answer: async ({ control }, { query }) => ({ approvals: await control.approvals(query) }),
  }),
  answer: endpoint("answer", {
    summary:
      "Allows or denies a tool (`word`), or answers a question (`reply`); `deny` declines to answer. The agent is told the `reason` of a denial. `by` is a note of what the caller calls itself; `answered_by` is its identity.",
    params: byId,
    body: answerSchema,
    response: approvalSchema,
    answer: ({ control }, { params, body: { word, by, reason } }) =>
      control.answer(params.id, word, by, reason),
  }),
  sessions: endpoint("sessions", {
    summary: "Sessions, the one used last first, and why one cannot be gone on with by hand.",
    query: z.strictObject({ agent: z.string().optional() }),
    response: z.object({ sessions: z.array(sessionViewSchema) }),
    answer: async ({ control }, { query }) => ({ sessions: await control.sessions(query) }),
  }),
  resume: endpoint("resume", {
    summary: "Goes on with a session, named by itself or by a job that ran in it.",
    params: byId,
    body: resumeSchema,
    bodyLimit: triggerBodyLimit,
    response: admissionSchema,
    answer: ({ control }, { params, body }) => control.resume(params.id, body.prompt),
  }),
  fork: endpoint("fork", {
    summary:
      "Begins a new session that starts as a copy of this one, up to the message `at` if one is named.",
    params: byId,
    body: forkSchema,
    bodyLimit: triggerBodyLimit,
    response: admissionSchema,
    answer: ({ control }, { params, body }) => control.fork(params.id, body.prompt, body.at),
  }),
  deliveries: endpoint("deliveries", {
    summary:
      "What webhooks delivered, newest first, a page at a time; and how often something was refused.",
    query: deliveryQuerySchema,
    response: deliveryListSchema,
    answer: ({ control }, { query }) => control.deliveries(query),
  }),
  delivery: endpoint("delivery", {
    summary: "One delivery with its body.",
    params: byId,
    response: deliveryWithBodySchema,
    answer: async ({ control }, { params }) => {
      const found = await control.delivery(params.id);
      if (found) return found;
      throw new UserError("delivery_not_found", `there is no delivery ${params.id}`);
    },
  }),
  replay: endpoint("replay", {
    summary:
      "Takes a delivery as if it came now, by the configuration in force; it gets a job of its own.",
    params: byId,
    response: deliverySchema,
    answer: ({ control }, { params }) => control.replay(params.id),
  }),
  schedules: endpoint("schedules", {
    summary:
      "Schedules that go by the clock, each with its next due times and the last one's record.",
    response: z.object({ schedules: z.array(scheduleViewSchema) }),
    answer: async ({ control }) => ({ schedules: await control.schedules() }),
  }),
  dueTimes: endpoint("dueTimes", {
    summary: "The ledger: what became of every due time, the latest first, a page at a time.",
    query: dueQuerySchema,
    response: duePageSchema,
    answer: ({ control }, { query }) => control.dueTimes(query),
  }),
  switchSchedule: endpoint("switchSchedule", {
    summary: "Switches a schedule on or off until it is switched again.",
    params: bySchedule,
    body: z.strictObject({ enabled: z.boolean() }),
    response: scheduleViewSchema,
    answer: ({ control }, { params, body }) => control.switchSchedule(params, body.enabled),
  }),
  removeSchedule: endpoint("removeSchedule", {
    summary: "Takes back what an agent has planned: a run, or another interval.",
    params: bySchedule,
    answer: async ({ control }, { params }) => void (await control.removeSchedule(params)),
  }),
  budget: endpoint("budget", {
    summary: "What may be spent today, and what has been, of the fleet and of each agent.",
    response: budgetViewSchema,
    answer: ({ control }) => control.budget(),
  }),
  raiseBudget: endpoint("raiseBudget", {
    summary: "Raises limits for today by so much; without `agent` those of the fleet.",
    body: raiseSchema,
    response: budgetViewSchema,
    answer: ({ control }, { body: { agent, ...by } }) => control.raiseBudget(agent, by),
  }),
  costs: endpoint("costs", {
    summary:
      "What runs of the last `days` have cost, by day in the fleet's time zone and `by` agent, schedule or model, beside what may be spent.",
    query: costQuerySchema,
    response: costViewSchema,
    answer: ({ control }, { query }) => control.costs(query),
  }),
  pauseAgent: endpoint("pauseAgent", {
    summary: "Starts no more jobs of this agent; those that run go on.",
    params: byAgent,
    answer: async ({ control }, { params }) => void (await control.pauseAgent(params.agent)),
  }),
  resumeAgent: endpoint("resumeAgent", {
    summary: "Lifts the pause of an agent, and of the credential it shares with others.",
    params: byAgent,
    answer: async ({ control }, { params }) => void (await control.resumeAgent(params.agent)),
  }),
  hooks: endpoint("hooks", {
    summary: "Hooks that ran, run or are to run after finished jobs, newest first.",
    query: hookQuerySchema,
    response: z.object({ hooks: z.array(hookRunSchema) }),
    answer: async ({ control }, { query }) => ({ hooks: await control.hooks(query) }),
  }),
  retryHook: endpoint("retryHook", {
    summary: "Tries a hook once more that was given up.",
    params: byId,
    response: hookRunSchema,
    answer: ({ control }, { params }) => control.retryHook(params.id),
  }),
  configuration: endpoint("configuration", {
    summary: "The configuration in force: each value, where it was written, secrets masked.",
    response: shownConfigSchema,
    answer: ({ control }) => control.configuration(),
  }),
  chat: endpoint("chat", {
    summary: "Each agent on each chat platform: whether it is connected, and what is wrong.",
    response: z.object({ links: z.array(chatLinkSchema) }),
    answer: async ({ control }) => ({ links: await control.chat() }),
  }),
  nodes: endpoint("nodes", {
    summary:
      "The machines that run the fleet together, the first to join first; without a shared store the one there is.",
    response: z.object({ nodes: z.array(nodeViewSchema) }),
    answer: async ({ control }) => ({ nodes: await control.nodes() }),
  }),
  reload: endpoint("reload", {
    summary: "Reads the configuration anew. A wrong one is answered with all that is wrong in it.",
    answer: async ({ control }) => void (await control.reload()),
  }),
  shutdown: endpoint("shutdown", {
    summary:
      "Drains for `drainMs`, then cancels what is left; `detach` leaves running jobs to the next fleet process.",
    body: z.strictObject({
      drainMs: z.number().nonnegative().optional(),
      detach: z.boolean().optional(),
    }),
    answer: async ({ control }, { body }) => void (await control.shutdown(body)),
  }),
  events: endpoint("events", {
    summary:
      "Everything that happens from now on, as server-sent events. With `Last-Event-ID` it goes on after that one; a `reset` event says when some are lost. `output=false` leaves out what agents say.",
    query: eventQuerySchema,
    response: eventSchema,
    streams: [mediaTypes.sse],
    answer: async ({ feed, visitor, connection, header }, { query }) => {
      const { agents } = visitor;
      const wants = { after: header("last-event-id"), output: query.output === "true", agents };
      const frames = feed.join(wants, connection);
      return streamResponse(withHeartbeat(frames), mediaTypes.sse, connection);
    },
  }),
} satisfies Record<RouteName, unknown>;

export type Endpoints = typeof endpoints;
