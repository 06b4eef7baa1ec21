import { parseDuration } from "@herdctl/config";
import type { Job } from "@herdctl/protocol";
import {
  requestPermission,
  type ToolCall,
  toolCallDone,
  toolCallKey,
  toolCallRefused,
} from "../../jobs/attempts/tool-call.ts";
import { fillPrompt } from "../../jobs/prompt-template.ts";
import { type ScheduleInput, scheduleInputSchema } from "../../runner/contract/tool-inputs.ts";
import type { ToolCallAnswer } from "../../store/model/tool-call.ts";
import {
  decideSelfSchedule,
  type RequestedRun,
  type SelfScheduleDecision,
} from "../../triggers/schedules/agent-schedules.ts";
import {
  removeAgentSchedule,
  setScheduleEnabled,
} from "../../triggers/schedules/change-schedule.ts";
import { viewSchedules } from "../../triggers/schedules/schedule-view.ts";
import type { FleetServices } from "../services.ts";
import { markIfUntrusted } from "./untrusted-input.ts";

interface ScheduleCall {
  call: ToolCall;
  job: Job;
  input: ScheduleInput;
}

type ActionHandler = (services: FleetServices, request: ScheduleCall) => Promise<ToolCallAnswer>;

const actions: Record<ScheduleInput["action"], ActionHandler> = {
  list: async (services, { job }) => toolCallDone(await formatSchedules(services, job.agent)),
  plan: (services, { call, job, input }) => planRun(services, call, job, input),
  remove,
  switch: switchOwnSchedule,
  change,
};

/** Lists or changes the schedules of the agent that calls. */
export async function handleScheduleCall(
  services: FleetServices,
  call: ToolCall,
): Promise<ToolCallAnswer> {
  const input = scheduleInputSchema.parse(call.request.input);
  const job = await markIfUntrusted(services.state, call.jobId);
  return actions[input.action](services, { call, job, input });
}

async function formatSchedules({ state, fleet }: FleetServices, agent: string): Promise<string> {
  const views = await viewSchedules(fleet(), state, new Date());
  const own = views.filter((view) => view.agent === agent);
  return JSON.stringify({
    now: new Date().toISOString(),
    schedules: own.map(({ schedule, type, when, enabled, next, last, scheduled_by }) => {
      const ended = last && { due_at: last.due_at, result: last.result, reason: last.reason };
      return { schedule, type, when, enabled, next, last: ended, planned_by_you: !!scheduled_by };
    }),
  });
}

/** An agent may remove only runs that it planned itself. */
async function remove(
  services: FleetServices,
  { job, input }: ScheduleCall,
): Promise<ToolCallAnswer> {
  const { schedule = "" } = input;
  if (!services.agentSchedules.pendingOf(job.agent).some((run) => run.schedule === schedule))
    return toolCallRefused(`You have planned no run \`${schedule}\`.`);
  await removeAgentSchedule(services, { agent: job.agent, schedule });
  return toolCallDone("The planned run was removed.");
}

async function switchOwnSchedule(
  services: FleetServices,
  { call, job, input }: ScheduleCall,
): Promise<ToolCallAnswer> {
  const { schedule, enabled } = input;
  if (schedule === undefined || enabled === undefined)
    return toolCallRefused("`switch` needs `schedule` and `enabled`.");
  const denied = await requestPermission(call, "It wants to switch one of its schedules.");
  if (denied) return denied;
  await setScheduleEnabled(services, { agent: job.agent, schedule }, enabled);
  return toolCallDone(`\`${schedule}\` is ${enabled ? "on" : "off"}.`);
}

async function change(
  services: FleetServices,
  { call, job, input }: ScheduleCall,
): Promise<ToolCallAnswer> {
  const { state, agentSchedules, clock, fleet } = services;
  const { schedule = "" } = input;
  const every = input.every === undefined ? undefined : parseDuration(input.every);
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  const config = agent?.schedules[schedule];
  if (typeof every !== "number" || every < 1)
    return toolCallRefused("`change` needs `every`, such as 30m.");
  if (config?.type !== "interval")
    return toolCallRefused(`\`${schedule}\` is not one of your interval schedules.`);
  const denied = await requestPermission(
    call,
    "It wants to change the interval of one of its schedules.",
  );
  if (denied) return denied;
  const existing = (await state.schedules.listIntervalOverrides()).find(
    (override) =>
      override.agent === job.agent &&
      override.schedule === schedule &&
      override.every === config.every,
  );
  const instead_of = existing?.instead_of ?? config.every;
  const changed = { agent: job.agent, schedule, every, instead_of, job_id: job.id };
  await state.schedules.setIntervalOverride(changed);
  await agentSchedules.reloadAndNotify();
  await clock?.replan();
  return toolCallDone(`\`${schedule}\` runs every ${input.every}.`);
}

/**
 * Plans a run of the agent itself: immediately within its limits, otherwise if a person allows it.
 */
async function planRun(
  services: FleetServices,
  call: ToolCall,
  job: Job,
  input: ScheduleInput,
): Promise<ToolCallAnswer> {
  const at = plannedTime(input);
  const { prompt } = input;
  if (!at || prompt === undefined)
    return toolCallRefused("`plan` needs `at` or `in`, and a `prompt`.");
  const wantedRun = { at, prompt };
  // Checked and saved in one step, so that concurrent calls see each other's plans.
  const decidedOrAnswer = await services.toolCallMutex.runExclusive(
    async (): Promise<ToolCallAnswer | { why: string }> => {
      const decision = decidePlannedRun(services, call, job, wantedRun);
      if (decision.kind === "allow") return savePlannedRun(services, call, job, wantedRun);
      return decision.kind === "ask" ? { why: decision.reason } : toolCallRefused(decision.reason);
    },
  );
  if ("kind" in decidedOrAnswer) return decidedOrAnswer;
  const denied = await requestPermission(call, decidedOrAnswer.why, { at: at.toISOString() });
  if (denied) return denied;
  if (at.getTime() <= Date.now()) return toolCallRefused("This time has already passed.");
  return services.toolCallMutex.runExclusive(() => savePlannedRun(services, call, job, wantedRun));
}

function decidePlannedRun(
  { agentSchedules, fleet }: FleetServices,
  call: ToolCall,
  job: Job,
  wantedRun: RequestedRun,
): SelfScheduleDecision {
  const open = agentSchedules.pendingOf(job.agent);
  const key = toolCallKey(call);
  if (open.some((run) => run.key === key)) return { kind: "allow" };
  const limits = fleet().agents.find(({ name }) => name === job.agent)?.may_schedule;
  return decideSelfSchedule(wantedRun, limits, { pendingCount: open.length, now: new Date() });
}

async function savePlannedRun(
  { state, agentSchedules, clock }: FleetServices,
  call: ToolCall,
  { untrusted, agent, id: job_id }: Job,
  { at, prompt }: RequestedRun,
): Promise<ToolCallAnswer> {
  const storedPrompt = untrusted ? fillPrompt(untrustedPlanTemplate, { plan: { prompt } }) : prompt;
  const key = toolCallKey(call);
  const oneShot = { agent, at: at.toISOString(), prompt: storedPrompt, job_id, untrusted, key };
  const planned = await state.schedules.createOneShot(oneShot);
  await agentSchedules.reloadAndNotify();
  await clock?.replan();
  return toolCallDone(`You run at ${planned.at}, as the schedule \`${planned.schedule}\`.`);
}

const untrustedPlanTemplate =
  "An earlier run of yours, which had read text from outside, planned this.\n{{plan.prompt}}";

function plannedTime({ at, in: delay }: ScheduleInput): Date | undefined {
  if (at !== undefined) return new Date(at);
  const milliseconds = delay === undefined ? undefined : parseDuration(delay);
  return typeof milliseconds === "number" ? new Date(Date.now() + milliseconds) : undefined;
}
