import type { RouteName } from "@herdctl/protocol";
import { type CancelAllResult, UserError } from "@herdctl/protocol";
import {
  approvalSchema,
  deliverySchema,
  deliveryWithBodySchema,
  hookRunSchema,
  jobSchema,
} from "@herdctl/protocol/schemas";
import { z } from "zod";
import { withHeartbeat } from "../streams/sse-events.ts";
import { streamJobOutput } from "../streams/stream-job-output.ts";
import { mediaTypes, streamResponse } from "../streams/stream-response.ts";
import { waitForJob } from "../streams/wait-for-job.ts";
import { approvalAnswerSchema } from "./approval-answer.ts";
import { artifactAndNoteEndpoints } from "./artifacts-and-notes.ts";
import { auditEndpoints } from "./audit.ts";
import { authEndpoints } from "./auth.ts";
import { chatConnectionSchema } from "./chat.ts";
import { configEditEndpoints } from "./config-edit.ts";
import { shownConfigSchema } from "./configuration.ts";
import { costQuerySchema, costViewSchema } from "./costs.ts";
import { defineEndpoint } from "./define-endpoint.ts";
import { deliveryListSchema, deliveryQuerySchema } from "./deliveries.ts";
import { eventQuerySchema, eventSchema } from "./events.ts";
import type { FieldSchemas } from "./field-schemas.ts";
import { hookQuerySchema } from "./hooks.ts";
import {
  admissionSchema,
  forkSchema,
  jobOutputSchema,
  jobPageSchema,
  jobQuerySchema,
  jobWithAttemptsSchema,
  maxTriggerBodyBytes,
  outputQuerySchema,
  resumeSchema,
  triggerSchema,
  waitQuerySchema,
} from "./jobs.ts";
import { nodeViewSchema } from "./nodes.ts";
import { pushEndpoints } from "./push.ts";
import { rewindEndpoints } from "./rewind.ts";
import { ruleEndpoints } from "./rules.ts";
import {
  budgetViewSchema,
  duePageSchema,
  dueQuerySchema,
  raiseBudgetSchema,
  scheduleViewSchema,
} from "./schedules.ts";
import { searchEndpoints } from "./search.ts";
import { sessionViewSchema } from "./sessions.ts";
import { agentStatusSchema, fleetStatusSchema } from "./status.ts";
import { readTimeline, timelineQuerySchema, timelineSchema } from "./timeline.ts";

const idParams = z.object({ id: z.string() });
const agentParams = z.object({ agent: z.string() });
const scheduleParams = z.object({ agent: z.string(), schedule: z.string() });

export const endpoints = {
  ...authEndpoints,
  ...auditEndpoints,
  ...artifactAndNoteEndpoints,
  ...searchEndpoints,
  ...configEditEndpoints,
  ...ruleEndpoints,
  ...pushEndpoints,
  status: defineEndpoint("status", {
    summary: "Get the status of the fleet and its agents.",
    response: fleetStatusSchema,
    handle: ({ control }) => control.status(),
  }),
  agents: defineEndpoint("agents", {
    summary: "List the agents with their status.",
    response: z.object({ agents: z.array(agentStatusSchema) }),
    handle: async ({ control }) => ({ agents: await control.agents.list() }),
  }),
  agent: defineEndpoint("agent", {
    summary: "Get the status of an agent.",
    params: agentParams,
    response: agentStatusSchema,
    handle: async ({ control }, { params }) => {
      const agent = await control.agents.get(params.agent);
      if (agent) return agent;
      throw new UserError("agent_not_found", `there is no agent \`${params.agent}\``);
    },
  }),
  trigger: defineEndpoint("trigger", {
    summary:
      "Trigger an agent. Responds once the job is stored durably. A `key` that was used before returns the existing job.",
    body: triggerSchema,
    maxBodyBytes: maxTriggerBodyBytes,
    response: admissionSchema,
    handle: ({ control, caller }, { body }) => {
      // An expanded prompt can read any file that the agent's user can read.
      if (body.expand && /* defence: expand-needs-admin */ caller.scope !== "admin") {
        const message = `\`expand\` needs the scope \`admin\`, not \`${caller.scope}\``;
        throw new UserError("insufficient_scope", message);
      }
      const { fork_point: forkPoint, ...request } = body;
      return control.jobs.trigger({ ...request, forkPoint });
    },
  }),
  jobs: defineEndpoint("jobs", {
    summary: "List jobs, newest first. `next_cursor` is the `cursor` of the next page.",
    query: jobQuerySchema,
    response: jobPageSchema,
    handle: ({ control }, { query }) => control.jobs.list(query),
  }),
  timeline: defineEndpoint("timeline", {
    summary:
      "List jobs since a time in short form, newest first. Returns about 3,000 jobs at most; `complete` is false if older ones were left out.",
    query: timelineQuerySchema,
    response: timelineSchema,
    handle: ({ control }, { query }) => readTimeline(control, query),
  }),
  job: defineEndpoint("job", {
    summary: "Get a job with its attempts.",
    params: idParams,
    response: jobWithAttemptsSchema,
    handle: async ({ control }, { params }) => {
      const found = await control.jobs.get(params.id);
      if (found) return found;
      throw new UserError("job_not_found", `there is no job ${params.id}`);
    },
  }),
  wait: defineEndpoint("wait", {
    summary:
      "Wait until the job has finished, for at most `timeout` seconds, and return it. Repeat the call while `finished_at` is null.",
    params: idParams,
    query: waitQuerySchema,
    response: jobSchema,
    handle: ({ control, connection }, { params, query }) =>
      waitForJob(control, params.id, query.timeout, connection.signal),
  }),
  output: defineEndpoint("output", {
    summary:
      "Stream the agent's messages from byte offset `from`; with `follow=true`, until the job has finished. The format is JSON lines, or server-sent events if the client accepts them.",
    params: idParams,
    query: outputQuerySchema,
    response: jobOutputSchema,
    streamMediaTypes: [mediaTypes.lines, mediaTypes.sse],
    handle: async ({ control, outputFeeds, connection, readHeader }, { params, query }) => {
      const { job } = (await control.jobs.get(params.id)) ?? {};
      if (!job) throw new UserError("job_not_found", `there is no job ${params.id}`);
      const isSse = readHeader("accept")?.includes(mediaTypes.sse) ?? false;
      const from = Number(readHeader("last-event-id") ?? query.from ?? 0) || 0;
      const request = { jobId: job.id, from, follow: query.follow === "true", isSse };
      return streamJobOutput(outputFeeds, request, connection);
    },
  }),
  chain: defineEndpoint("chain", {
    summary:
      "List all jobs of the job's delegation chain, oldest first. `chain.parent` is the job that delegated each one.",
    params: idParams,
    response: z.object({ jobs: z.array(jobSchema) }),
    handle: async ({ control }, { params }) => ({ jobs: await control.jobs.chain(params.id) }),
  }),
  cancel: defineEndpoint("cancel", {
    summary:
      "Cancel a job and the jobs it delegated. A running agent gets time to stop; `force` kills it immediately.",
    params: idParams,
    body: z.strictObject({ force: z.boolean().optional() }),
    response: jobSchema,
    handle: ({ control }, { params, body }) => control.jobs.cancel(params.id, body),
  }),
  cancelAll: defineEndpoint("cancelAll", {
    summary:
      "Cancel all unfinished jobs of an agent, and the jobs that were delegated from them. `stopping` counts running jobs that have not ended yet.",
    params: agentParams,
    body: z.strictObject({ force: z.boolean().optional() }),
    response: z.object({
      cancelled: z.number().int().nonnegative(),
      stopping: z.number().int().nonnegative(),
    } satisfies FieldSchemas<CancelAllResult>),
    handle: ({ control }, { params, body }) => control.jobs.cancelAll({ ...params, ...body }),
  }),
  retry: defineEndpoint("retry", {
    summary:
      "Run the prompt of a finished job again: in its session, or with `fresh` in a new one. The new job is as untrusted as the old one.",
    params: idParams,
    body: z.strictObject({ fresh: z.boolean().optional() }),
    response: admissionSchema,
    handle: ({ control }, { params, body }) => control.jobs.retry(params.id, body),
  }),
  tryNow: defineEndpoint("tryNow", {
    summary: "Start the next attempt of a job that waits for a limit or for a retry.",
    params: idParams,
    response: jobSchema,
    handle: ({ control }, { params }) => control.jobs.tryNow(params.id),
  }),
  ...rewindEndpoints,
  approvals: defineEndpoint("approvals", {
    summary:
      "List open permission requests and questions. With `job`, list all of that job, including answered ones.",
    query: z.strictObject({ job: z.string().optional() }),
    response: z.object({ approvals: z.array(approvalSchema) }),
    handle: async ({ control }, { query }) => ({ approvals: await control.approvals.list(query) }),
  }),
  answer: defineEndpoint("answer", {
    summary:
      "Answer a permission request with `decision` (`allow` or `deny`), or a question with `reply`; `deny` declines a question. `scope` makes a permission last: `once`, for the attempts of this `job`, or `always` for the agent, which writes a rule and needs the scope `admin`. The agent receives the `reason` of a denial. `note` is a name that the client gives itself; `answered_by` records the caller's identity.",
    params: idParams,
    body: approvalAnswerSchema,
    response: approvalSchema,
    handle: ({ control, caller }, { params, body: { decision, note, reason } }) => {
      // A rule changes what the agent may do in later runs.
      const isLasting =
        typeof decision === "object" && "allow" in decision && decision.allow === "always";
      if (isLasting && /* defence: always-needs-admin */ caller.scope !== "admin") {
        const message = `\`scope: always\` needs the scope \`admin\`, not \`${caller.scope}\``;
        throw new UserError("insufficient_scope", message);
      }
      return control.approvals.answer(params.id, decision, { note, reason });
    },
  }),
  sessions: defineEndpoint("sessions", {
    summary:
      "List sessions, most recently used first. `obstacle` explains why a session cannot be resumed in a terminal.",
    query: z.strictObject({ agent: z.string().optional() }),
    response: z.object({ sessions: z.array(sessionViewSchema) }),
    handle: async ({ control }, { query }) => ({ sessions: await control.sessions.list(query) }),
  }),
  resume: defineEndpoint("resume", {
    summary: "Resume a session, given its id or the id of a job that ran in it.",
    params: idParams,
    body: resumeSchema,
    maxBodyBytes: maxTriggerBodyBytes,
    response: admissionSchema,
    handle: ({ control }, { params, body }) => control.sessions.resume(params.id, body.prompt),
  }),
  fork: defineEndpoint("fork", {
    summary:
      "Fork a session: start a new one as a copy of it, up to and including the message `fork_point` if given.",
    params: idParams,
    body: forkSchema,
    maxBodyBytes: maxTriggerBodyBytes,
    response: admissionSchema,
    handle: ({ control }, { params, body }) =>
      control.sessions.fork(params.id, body.prompt, { forkPoint: body.fork_point }),
  }),
  deliveries: defineEndpoint("deliveries", {
    summary: "List webhook deliveries, newest first, with counts of refused ones.",
    query: deliveryQuerySchema,
    response: deliveryListSchema,
    handle: ({ control }, { query }) => control.deliveries.list(query),
  }),
  delivery: defineEndpoint("delivery", {
    summary: "Get a delivery with its body.",
    params: idParams,
    response: deliveryWithBodySchema,
    handle: async ({ control }, { params }) => {
      const found = await control.deliveries.get(params.id);
      if (found) return found;
      throw new UserError("delivery_not_found", `there is no delivery ${params.id}`);
    },
  }),
  replay: defineEndpoint("replay", {
    summary: "Process a delivery again with the current configuration. It creates a new job.",
    params: idParams,
    response: deliverySchema,
    handle: ({ control }, { params }) => control.deliveries.replay(params.id),
  }),
  schedules: defineEndpoint("schedules", {
    summary: "List time-based schedules with their next due times and the result of the last one.",
    response: z.object({ schedules: z.array(scheduleViewSchema) }),
    handle: async ({ control }) => ({ schedules: await control.schedules.list() }),
  }),
  dueTimes: defineEndpoint("dueTimes", {
    summary: "List due times with their results, latest first.",
    query: dueQuerySchema,
    response: duePageSchema,
    handle: ({ control }, { query }) => control.schedules.dueTimes(query),
  }),
  updateSchedule: defineEndpoint("updateSchedule", {
    summary: "Enable or disable a schedule. This overrides the configuration, also after restarts.",
    params: scheduleParams,
    body: z.strictObject({ enabled: z.boolean() }),
    response: scheduleViewSchema,
    handle: ({ control: { schedules } }, { params, body }) =>
      body.enabled ? schedules.enable(params) : schedules.disable(params),
  }),
  removeSchedule: defineEndpoint("removeSchedule", {
    summary: "Remove a run or an interval change that an agent has scheduled.",
    params: scheduleParams,
    handle: async ({ control }, { params }) => void (await control.schedules.remove(params)),
  }),
  budget: defineEndpoint("budget", {
    summary: "Get today's budgets and spending of the fleet and each agent.",
    response: budgetViewSchema,
    handle: ({ control }) => control.budget.get(),
  }),
  raiseBudget: defineEndpoint("raiseBudget", {
    summary:
      "Raise today's limits by the given amounts, for an agent or, without `agent`, for the fleet.",
    body: raiseBudgetSchema,
    response: budgetViewSchema,
    handle: ({ control }, { body }) => control.budget.raise(body),
  }),
  costs: defineEndpoint("costs", {
    summary:
      "Get the costs of the last `days` days, per day in the fleet's time zone, grouped `by` agent, schedule or model, with the daily limits.",
    query: costQuerySchema,
    response: costViewSchema,
    handle: ({ control }, { query }) => control.costs.get(query),
  }),
  pauseAgent: defineEndpoint("pauseAgent", {
    summary: "Pause an agent: it starts no more jobs, and running jobs continue.",
    params: agentParams,
    handle: async ({ control }, { params }) => void (await control.agents.pause(params.agent)),
  }),
  resumeAgent: defineEndpoint("resumeAgent", {
    summary:
      "Resume a paused agent. Also lifts the pause of a credential that it shares with other agents.",
    params: agentParams,
    handle: async ({ control }, { params }) => void (await control.agents.resume(params.agent)),
  }),
  hooks: defineEndpoint("hooks", {
    summary: "List past, running and pending hook runs, newest first.",
    query: hookQuerySchema,
    response: z.object({ hooks: z.array(hookRunSchema) }),
    handle: async ({ control }, { query }) => ({ hooks: await control.hooks.list(query) }),
  }),
  retryHook: defineEndpoint("retryHook", {
    summary: "Retry a failed hook.",
    params: idParams,
    response: hookRunSchema,
    handle: ({ control }, { params }) => control.hooks.retry(params.id),
  }),
  configuration: defineEndpoint("configuration", {
    summary: "Get the effective configuration: each value with its source, secrets masked.",
    response: shownConfigSchema,
    handle: ({ control }) => control.config.get(),
  }),
  chat: defineEndpoint("chat", {
    summary: "List the chat connections of all agents, with their state and problems.",
    response: z.object({ connections: z.array(chatConnectionSchema) }),
    handle: async ({ control }) => ({ connections: await control.chat.connections() }),
  }),
  nodes: defineEndpoint("nodes", {
    summary:
      "List the nodes that run the fleet, in the order they joined. Without a shared store, there is one.",
    response: z.object({ nodes: z.array(nodeViewSchema) }),
    handle: async ({ control }) => ({ nodes: await control.nodes.list() }),
  }),
  reload: defineEndpoint("reload", {
    summary: "Reload the configuration. If it is invalid, the response lists all errors.",
    handle: async ({ control }) => void (await control.reload()),
  }),
  shutdown: defineEndpoint("shutdown", {
    summary:
      "Stop the fleet: wait up to `drain_ms` milliseconds for running jobs, then cancel the rest. With `detach`, running jobs continue and the next fleet process adopts them.",
    body: z.strictObject({
      drain_ms: z.number().nonnegative().optional(),
      detach: z.boolean().optional(),
    }),
    handle: async ({ control }, { body: { drain_ms: drainMs, detach } }) =>
      void (await control.shutdown({ drainMs, detach })),
  }),
  events: defineEndpoint("events", {
    summary:
      "Stream events as server-sent events. With `Last-Event-ID`, the stream continues after that event; a `reset` event means that events were lost. `output=false` omits agent output.",
    query: eventQuerySchema,
    response: eventSchema,
    streamMediaTypes: [mediaTypes.sse],
    handle: async ({ eventFeed, caller, connection, readHeader }, { query }) => {
      const { agents } = caller;
      const subscription = {
        lastEventId: readHeader("last-event-id"),
        includesOutput: query.output === "true",
        agents,
      };
      const frames = eventFeed.subscribe(subscription, connection);
      return streamResponse(withHeartbeat(frames), mediaTypes.sse, connection);
    },
  }),
} satisfies Record<RouteName, unknown>;

export type Endpoints = typeof endpoints;
