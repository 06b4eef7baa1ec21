import { namesAgent } from "../config/named-agents.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { UserError } from "../errors/user-error.ts";
import type { AdmissionDecider, Admitted, Application } from "../state/admission.ts";
import { nextInChain } from "../state/chain.ts";
import type { WantedDelivery } from "../state/delivery.ts";
import { identities } from "../state/identity.ts";
import type { Job, NewJob, TriggerType } from "../state/job.ts";
import type { Outcome } from "../state/outcome.ts";
import type { Day } from "../state/spending.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { Budget } from "./budget.ts";
import { decideAdmission, type Overlap, wantsLive } from "./decide-admission.ts";
import type { ChainLimits, Delegated } from "./decide-chain.ts";

type Schedule = ResolvedAgent["schedules"][string];

/** What every trigger becomes, whoever or whatever pulled it. */
export interface TriggerRequest {
  trigger: TriggerType;
  agent: string;
  schedule?: string;
  prompt?: string;
  /** The same key gives the same job, however often it is sent. */
  key?: string;
  /** A job or session to go on with, or to branch off from. */
  resume?: string;
  fork?: string;
  /** With `fork`: the message after which the new session goes its own way. */
  forkAt?: string;
  jobId?: string;
  /** Somebody looks on: the model is seen speaking, not only what it said. Not part of the record. */
  watched?: boolean;
  /** Its prompt was written by an operator: `@path` and `/command` may take effect in it. */
  expand?: boolean;
  /** A turn of a conversation: its `claude` stays up for the next one. Not part of the record. */
  live?: boolean;
}

export interface Admission {
  job: Job;
  /** False when the key had been seen before: this is the first job's record. */
  created: boolean;
  /** Running or queued jobs of the schedule that the caller has to cancel for this one. */
  cancel: string[];
}

/** What the fleet as a whole says about admission. */
export interface AdmissionRules {
  /** Today; only asked for where something is limited by it. */
  day(): Day;
  budget?: Budget;
  chain?: ChainLimits;
}

/** A trigger at the door, with what is known of it beyond what it asks for. */
export interface Candidate {
  request: TriggerRequest;
  /** The due time that it stands for. */
  due?: { due_at: string; through: string };
  /** The delivery that asks for it. */
  delivery?: WantedDelivery;
  /** The identity of whoever triggers it, where its kind does not say so. */
  by?: string;
  /** Why its gate keeps it out. */
  gate?: Outcome;
  /** In place of what its schedule says. */
  overlap?: Overlap;
  /** The job whose agent asks for it, and why it could never start while that one waits. */
  from?: { jobId: string; deadlock?: string };
  /** It brings text from outside, though its kind does not say so. */
  untrusted?: boolean;
  /** Its schedule was planned by an agent, which wrote the prompt. */
  planned?: boolean;
}

/** The one door to the queue. What it returns is durable; what it refuses for now is recorded as `skipped`. */
export async function admit(
  state: StateManager,
  agents: readonly ResolvedAgent[],
  request: TriggerRequest,
  rules?: AdmissionRules,
): Promise<Admission> {
  return state.jobs.admit(await applicationOf(state, agents, { request }, rules));
}

/** Several through the same door, in their order: all of them are durable, or none. */
export async function admitAll(
  state: StateManager,
  agents: readonly ResolvedAgent[],
  candidates: readonly Candidate[],
  rules?: AdmissionRules,
): Promise<Admitted[]> {
  const applications: Application[] = [];
  for (const one of candidates) applications.push(await applicationOf(state, agents, one, rules));
  return state.jobs.admitAll(applications);
}

async function applicationOf(
  state: StateManager,
  agents: readonly ResolvedAgent[],
  candidate: Candidate,
  rules: AdmissionRules | undefined,
): Promise<Application> {
  const { request, due, delivery, by, gate, overlap, from, untrusted } = candidate;
  const agent = findAgent(agents, request.agent);
  const schedule = scheduleOf(agent, request);
  const parent = from && (await giverOf(state, from.jobId));
  const job: NewJob = {
    id: request.jobId,
    agent: agent.name,
    prompt: promptOf(agent, request.prompt ?? schedule?.prompt),
    expand_prompt: mayExpand(agent, candidate),
    trigger_type: request.trigger,
    triggered_by: by ?? (parent ? identities.agent(parent.agent) : usualIdentity(request.trigger)),
    schedule: request.schedule,
    priority: agent.priority,
    idempotency_key: request.key,
    resumed_from: request.resume && (await sessionOf(state, request.resume)),
    forked_from: request.fork && (await sessionOf(state, request.fork)),
    fork_point: forkPointOf(request),
    reserved_usd: agent.max_budget_usd,
    untrusted: bringsOutside.has(request.trigger) || untrusted || parent?.untrusted,
    ...(parent && { chain: nextInChain(parent) }),
  };
  const applicant = {
    agent: agent.name,
    schedule: request.schedule ?? null,
    overlap: overlap ?? schedule?.overlap ?? "allow",
    gate,
    reserve: agent.max_budget_usd,
    budgets: { agent: agent.budget, fleet: rules?.budget ?? {} },
    ...(parent && { delegated: delegatedOf(agents, agent, parent, { ...from, rules }) }),
  };
  const isLimited = [agent.budget, rules?.budget ?? {}].some((one) => Object.keys(one).length > 0);
  const day = isLimited ? rules?.day() : undefined;
  const decide: AdmissionDecider = (snapshot) => decideAdmission(applicant, snapshot);
  return { job, due, delivery, day, decide, wantsLive: wantsLive(applicant) };
}

/** Kinds of triggers whose text somebody wrote whom nobody here knows. */
const bringsOutside: ReadonlySet<TriggerType> = new Set(["webhook", "chat", "work_item"]);

/** Only the configured prompt, and what the caller says an operator wrote; never text from outside. */
function mayExpand({ prompts }: ResolvedAgent, candidate: Candidate): boolean {
  const { request, from, untrusted, planned } = candidate;
  if (prompts !== "expanded" || from || untrusted || planned) return false;
  if (bringsOutside.has(request.trigger)) return false;
  return request.prompt === undefined || request.expand === true;
}

async function giverOf(state: StateManager, id: string): Promise<Job> {
  const job = await state.jobs.get(id);
  if (job) return job;
  throw new UserError("job_not_found", `there is no job ${id}`);
}

function delegatedOf(
  agents: readonly ResolvedAgent[],
  { name }: ResolvedAgent,
  parent: Job,
  { deadlock, rules }: { deadlock?: string; rules?: AdmissionRules },
): Delegated {
  const giver = agents.find((one) => one.name === parent.agent);
  return {
    chain: nextInChain(parent),
    isAllowed: giver !== undefined && namesAgent(giver.may_trigger, name),
    limits: rules?.chain ?? noChains,
    deadlock,
  };
}

/** Without a fleet nobody hands work on. */
const noChains: ChainLimits = { max_depth: 0, max_jobs: 0, max_cost_usd: 0 };

function findAgent(agents: readonly ResolvedAgent[], name: string): ResolvedAgent {
  const found = agents.find((agent) => agent.name === name);
  if (found) return found;
  const names = agents.map((agent) => agent.name).join(", ");
  throw new UserError("usage", `there is no agent \`${name}\``, {
    hint: `Agents here: ${names || "none"}.`,
  });
}

/** The schedule that is named, if one is. */
function scheduleOf(
  agent: ResolvedAgent,
  { schedule }: Pick<TriggerRequest, "schedule">,
): Schedule | undefined {
  if (schedule === undefined) return undefined;
  const planned = agent.schedules[schedule];
  if (planned) return planned;
  const names = Object.keys(agent.schedules).join(", ");
  throw new UserError("usage", `\`${agent.name}\` has no schedule \`${schedule}\``, {
    hint: `Its schedules: ${names || "none"}.`,
  });
}

function promptOf(agent: ResolvedAgent, given: string | undefined): string {
  const text = given ?? agent.default_prompt;
  if (text !== undefined && text.trim() !== "") return text;
  throw new UserError("usage", `there is nothing to tell \`${agent.name}\``, {
    hint: "Give a prompt with `-p`, or write a `default_prompt` for the agent.",
  });
}

function forkPointOf({ fork, forkAt }: TriggerRequest): string | undefined {
  if (forkAt === undefined || fork !== undefined) return forkAt;
  throw new UserError("usage", "only a fork can begin at a message", {
    hint: "Name the session or job to fork as well.",
  });
}

/** A job stands for the session it ran in. */
async function sessionOf(state: StateManager, id: string): Promise<string> {
  if (!id.startsWith("job-")) return id;
  const job = await state.jobs.get(id);
  if (job?.session_id) return job.session_id;
  const message = job ? `${id} has no session to go on with` : `there is no job ${id}`;
  throw new UserError("job_not_found", message);
}

/** Of what starts jobs without anyone asking for it at that moment; else of this process. */
function usualIdentity(trigger: TriggerType): string {
  if (trigger === "webhook") return identities.webhook;
  return trigger === "manual" || trigger === "chat" ? identities.user() : identities.schedule;
}
