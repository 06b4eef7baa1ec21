import { matchesAnyPattern, type ResolvedAgent } from "@herdctl/config";
import {
  type AcceptedDelivery,
  type BudgetDay,
  idempotencyKeyPattern,
  type Job,
  type NewJob,
  type Outcome,
  type TriggerRequest,
  type TriggerType,
  UserError,
} from "@herdctl/protocol";
import { extendChain } from "@herdctl/protocol/schemas";
import type {
  AdmissionDecider,
  AdmissionRequest,
  AdmissionResult,
} from "../../store/model/admission.ts";
import { identities } from "../../store/model/identity.ts";
import type { StateManager } from "../../store/state-manager.ts";
import {
  type Budget,
  type ChainLimits,
  type Delegation,
  decideAdmission,
  needsLiveJobs,
  type Overlap,
} from "./decide-admission.ts";

type Schedule = ResolvedAgent["schedules"][string];

export interface AdmissionRules {
  /** Today; called only if a daily limit applies. */
  day(): BudgetDay;
  budget?: Budget;
  chain?: ChainLimits;
}

/** A trigger to admit, with context beyond the request. */
export interface Candidate {
  request: JobRequest;
  /** The due time that the trigger belongs to. */
  due?: { due_at: string; through: string };
  /** The webhook delivery that caused the trigger. */
  delivery?: AcceptedDelivery;
  /** Identity of the caller, if the trigger type does not imply it. */
  by?: string;
  /** The outcome if the gate is closed. */
  gate?: Outcome;
  /** Overrides the overlap policy of the schedule. */
  overlap?: Overlap;
  /** The delegating job, and the deadlock that would follow if it waited for the new job. */
  from?: { jobId: string; deadlock?: string };
  /** The trigger brings text from outside, although its type does not imply it. */
  untrusted?: boolean;
  /** An agent planned the schedule and wrote its prompt. */
  planned?: boolean;
  /** A pending job that was recorded without admission; the request is for its id. */
  recorded?: Job;
}

/**
 * The only way into the queue. Admitted jobs are durable; refused triggers are recorded as
 * `skipped`.
 */
export async function admit(
  state: StateManager,
  agents: readonly ResolvedAgent[],
  request: JobRequest,
  rules?: AdmissionRules,
  recorded?: Job,
): Promise<AdmissionResult> {
  return state.jobs.admit(await buildApplication(state, agents, { request, recorded }, rules));
}

/** Admits several candidates in order. All of them become durable, or none. */
export async function admitAll(
  state: StateManager,
  agents: readonly ResolvedAgent[],
  candidates: readonly Candidate[],
  rules?: AdmissionRules,
): Promise<AdmissionResult[]> {
  const applications: AdmissionRequest[] = [];
  for (const candidate of candidates)
    applications.push(await buildApplication(state, agents, candidate, rules));
  return state.jobs.admitAll(applications);
}

async function buildApplication(
  state: StateManager,
  agents: readonly ResolvedAgent[],
  candidate: Candidate,
  rules: AdmissionRules | undefined,
): Promise<AdmissionRequest> {
  const { request, due, delivery, by, gate, overlap, from, untrusted } = candidate;
  const agent = findAgent(agents, request.agent);
  const schedule = scheduleOf(agent, request);
  const parent = from && (await getParentJob(state, from.jobId));
  const job: NewJob = {
    id: request.jobId,
    agent: agent.name,
    prompt: resolvePrompt(agent, request.prompt ?? schedule?.prompt),
    expand_prompt: canExpandPrompt(agent, candidate),
    trigger_type: request.trigger,
    triggered_by:
      by ?? (parent ? identities.agent(parent.agent) : defaultIdentity(request.trigger)),
    schedule: request.schedule,
    priority: agent.priority,
    idempotency_key: request.key,
    resumed_from: request.resume && (await resolveSessionId(state, request.resume)),
    forked_from: request.fork && (await resolveSessionId(state, request.fork)),
    fork_point: forkPointOf(request),
    reserved_usd: agent.max_budget_usd,
    untrusted: externalTriggers.has(request.trigger) || untrusted || parent?.untrusted,
    ...(parent && { chain: extendChain(parent) }),
    ...(candidate.recorded && recordedFieldsOf(candidate.recorded)),
  };
  const applicant = {
    agent: agent.name,
    schedule: request.schedule ?? null,
    overlap: overlap ?? schedule?.overlap ?? "allow",
    gate,
    reserve: agent.max_budget_usd,
    budgets: { agent: agent.budget, fleet: rules?.budget ?? {} },
    ...(parent && { delegated: delegationOf(agents, agent, parent, { ...from, rules }) }),
  };
  const budgets = [agent.budget, rules?.budget ?? {}];
  const isLimited = budgets.some((budget) => Object.keys(budget).length > 0);
  const day = isLimited ? rules?.day() : undefined;
  const decide: AdmissionDecider = (snapshot) => decideAdmission(applicant, snapshot);
  const replacesPending = candidate.recorded !== undefined;
  const facts = { job, due, delivery, day, replacesPending };
  return { ...facts, decide, needsLiveJobs: needsLiveJobs(applicant) };
}

function recordedFieldsOf(job: Job): Partial<NewJob> {
  const { trigger_type, triggered_by, priority, chain, untrusted, idempotency_key } = job;
  const key = idempotency_key ?? undefined;
  return { trigger_type, triggered_by, priority, chain, untrusted, idempotency_key: key };
}

/** Trigger types whose text comes from unknown authors. */
const externalTriggers: ReadonlySet<TriggerType> = new Set(["webhook", "chat", "work_item"]);

/** Only the configured prompt, and prompts that the operator wrote, may be expanded. */
function canExpandPrompt({ prompts }: ResolvedAgent, candidate: Candidate): boolean {
  const { request, from, untrusted, planned } = candidate;
  if (prompts !== "expanded" || from || untrusted || planned) return false;
  // defence: outside-text-verbatim
  if (externalTriggers.has(request.trigger)) return false;
  return request.prompt === undefined || request.expand === true;
}

async function getParentJob(state: StateManager, id: string): Promise<Job> {
  const job = await state.jobs.get(id);
  if (job) return job;
  throw new UserError("job_not_found", `there is no job ${id}`);
}

function delegationOf(
  agents: readonly ResolvedAgent[],
  { name }: ResolvedAgent,
  parent: Job,
  { deadlock, rules }: { deadlock?: string; rules?: AdmissionRules },
): Delegation {
  const parentAgent = agents.find((agent) => agent.name === parent.agent);
  return {
    chain: extendChain(parent),
    isAllowed: parentAgent !== undefined && matchesAnyPattern(parentAgent.may_trigger, name),
    limits: rules?.chain ?? noDelegation,
    deadlock,
  };
}

/** Without a fleet, delegation is not possible. */
const noDelegation: ChainLimits = { max_depth: 0, max_jobs: 0, max_cost_usd: 0 };

function findAgent(agents: readonly ResolvedAgent[], name: string): ResolvedAgent {
  const found = agents.find((agent) => agent.name === name);
  if (found) return found;
  const names = agents.map((agent) => agent.name).join(", ");
  throw new UserError("agent_not_found", `there is no agent \`${name}\``, {
    hint: `Available agents: ${names || "none"}.`,
  });
}

/** The schedule that the request names; undefined if it names none. */
function scheduleOf(
  agent: ResolvedAgent,
  { schedule, trigger, prompt }: Pick<JobRequest, "schedule" | "trigger" | "prompt">,
): Schedule | undefined {
  if (schedule === undefined) return undefined;
  const planned = agent.schedules[schedule];
  if (planned?.type === "webhook" && trigger === "manual" && prompt === undefined) {
    throw new UserError("usage", `\`${schedule}\` is a webhook: its prompt needs a delivery`, {
      hint: `Run \`herdctl deliveries --agent ${agent.name}\` and \`herdctl deliveries replay ID\`, or give a prompt with \`herdctl trigger ${agent.name} "…"\`.`,
    });
  }
  if (planned) return planned;
  const names = Object.keys(agent.schedules).join(", ");
  throw new UserError("schedule_not_found", `\`${agent.name}\` has no schedule \`${schedule}\``, {
    hint: `Available schedules: ${names || "none"}.`,
  });
}

function resolvePrompt(agent: ResolvedAgent, requestedPrompt: string | undefined): string {
  const text = requestedPrompt ?? agent.default_prompt;
  if (text !== undefined && text.trim() !== "") return text;
  throw new UserError("usage", `there is no prompt for \`${agent.name}\``, {
    hint: "Give a prompt, or add a `default_prompt` to the agent.",
  });
}

function forkPointOf({ fork, forkPoint }: JobRequest): string | undefined {
  if (forkPoint === undefined || fork !== undefined) return forkPoint;
  throw new UserError("usage", "only a fork can start at a message", {
    hint: "Also name the session or job to fork.",
  });
}

/** A job id stands for the session of that job. */
async function resolveSessionId(state: StateManager, reference: string): Promise<string> {
  if (!reference.startsWith("job-")) return reference;
  const job = await state.jobs.get(reference);
  if (job?.session_id) return job.session_id;
  const message = job ? `${reference} has no session to resume` : `there is no job ${reference}`;
  throw new UserError("job_not_found", message);
}

/**
 * The identity for triggers without a known caller: the trigger type, or else the user of this
 * process.
 */
function defaultIdentity(trigger: TriggerType): string {
  if (trigger === "webhook") return identities.webhook;
  return trigger === "manual" || trigger === "chat" ? identities.user() : identities.schedule;
}

/** A trigger as it reaches admission: the fleet has decided its type, callers cannot. */
export interface JobRequest extends Omit<TriggerRequest, "conversation"> {
  trigger: TriggerType;
  /** An ID that was reserved for the job; without it, a new one. */
  jobId?: string;
}

/** A person or program asks for the job. */
export function toJobRequest({ conversation, ...request }: TriggerRequest): JobRequest {
  const { key } = request;
  if (key !== undefined && !idempotencyKeyPattern.test(key)) {
    throw new UserError("usage", "the key cannot be used", {
      hint: "Use 1 to 500 characters, without control characters.",
    });
  }
  return { ...pickRequest(request), trigger: conversation ? "chat" : "manual" };
}

/** Ignores fields that the type does not have, which a JavaScript caller could pass. */
function pickRequest(request: Omit<TriggerRequest, "conversation">) {
  const { agent, prompt, schedule, key, resume, fork, forkPoint, expand, stream } = request;
  return { agent, prompt, schedule, key, resume, fork, forkPoint, expand, stream };
}
