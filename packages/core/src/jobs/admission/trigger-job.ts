import { type AcceptedDelivery, UserError } from "@herdctl/protocol";
import { isStoreUnavailable } from "../../lib/retry.ts";
import { dayOf } from "../../lib/time-zone.ts";
import type { AdmissionResult } from "../../store/model/admission.ts";
import type { Actor } from "../../store/model/identity.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { cancelJob } from "../attempts/cancel-job.ts";
import { runGateBeforeAdmission } from "../gates.ts";
import type { JobServices } from "../services.ts";
import { admitAll, type Candidate, type JobRequest } from "./admit.ts";
import { buildWorkPrompt, isTimed, type WorkClaimResult } from "./work-item.ts";

/** Runs the gate, admits the trigger, publishes the result and wakes the dispatcher. */
export async function triggerJob(
  services: JobServices,
  request: JobRequest,
  delivery?: AcceptedDelivery,
  actor?: Actor,
): Promise<AdmissionResult> {
  const initial = { request, delivery, by: actor?.identity };
  const candidate = (await needsPreparation(services, request))
    ? await prepareCandidate(services, initial)
    : initial;
  return admitJob(services, candidate);
}

/** Admits a candidate whose gate, if any, was asked. */
export async function admitJob(
  services: JobServices,
  candidate: Candidate,
): Promise<AdmissionResult> {
  const { request } = candidate;
  const [admission] = await triggerAll(services, [candidate], ({ job }) => {
    services.ownJobs.add(job.id);
    if (request.stream) services.watchedJobs.add(job.id);
  });
  if (!admission) throw new Error("the trigger has no admission result");
  return admission;
}

/**
 * Only schedules have gates and work sources, and a trigger with a known key was admitted before.
 */
async function needsPreparation(
  { state }: JobServices,
  { schedule, key }: JobRequest,
): Promise<boolean> {
  if (schedule === undefined) return false;
  return key === undefined || (await state.jobs.findByKey(key)) === undefined;
}

/**
 * Admits several candidates, all or none. `onAdmitted` is called before the events are published.
 */
export async function triggerAll(
  services: JobServices,
  candidates: readonly Candidate[],
  onAdmitted: (admission: AdmissionResult) => void = () => undefined,
): Promise<AdmissionResult[]> {
  const { hub, dispatcher, onAdmissionDecided } = services;
  failPoint("trigger accepted");
  const admissions = await admitAndTrackStoreProblem(services, candidates).finally(() => {
    for (const { request } of candidates) if (request.jobId) onAdmissionDecided(request.jobId);
  });
  failPoint("job stored");
  for (const admission of admissions) {
    const { job, created, jobsToCancel } = admission;
    onAdmitted(admission);
    if (!created) continue;
    hub.emit({ type: job.status === "skipped" ? "job:skipped" : "job:created", job });
    for (const id of jobsToCancel) await cancelJob(services, id, false);
  }
  dispatcher.wake(admissions.flatMap(({ job, created }) => (created ? [job] : [])));
  return admissions;
}

async function admitAndTrackStoreProblem(
  { state, agentSchedules, fleet: configuration, setStoreProblem }: JobServices,
  initial: readonly Candidate[],
): Promise<AdmissionResult[]> {
  const candidates = initial.map((candidate) => {
    const { agent, schedule = "" } = candidate.request;
    const plan = agentSchedules.find({ agent, schedule });
    if (!plan) return candidate;
    return { ...candidate, planned: true, untrusted: candidate.untrusted || plan.untrusted };
  });
  try {
    const { agents, fleet } = configuration();
    const rules = {
      day: () => dayOf(new Date(), fleet.timezone),
      budget: fleet.budget,
      chain: fleet.chain,
    };
    const admissions = await admitAll(state, agents, candidates, rules);
    setStoreProblem(undefined);
    return admissions;
  } catch (error) {
    if (isStoreUnavailable(error)) setStoreProblem(error.message);
    throw error;
  }
}

/** Prepares a candidate: runs its gate, then claims an item of its agent's work source. */
export async function prepareCandidate(
  services: JobServices,
  candidate: Candidate,
  signal?: AbortSignal,
): Promise<Candidate> {
  const gated = await runGateBeforeAdmission(services, candidate, signal);
  const { agent: name, schedule: scheduleName = "", prompt, resume, fork } = candidate.request;
  const agent = services.fleet().agents.find((agent) => agent.name === name);
  const schedule = agent?.schedules[scheduleName];
  if (!agent?.work_source || !schedule || !isTimed(schedule)) return gated;
  // A caller that names a prompt or a session wants that, not a work item.
  if (prompt !== undefined || resume !== undefined || fork !== undefined) return gated;

  const { request } = gated;
  const template = request.prompt ?? schedule.prompt ?? agent.default_prompt;
  const withoutWork = {
    ...gated,
    request: { ...request, prompt: template ?? "(no work item was claimed)" },
  };
  if (gated.gate || (await isBlocked(services, candidate, schedule.overlap))) return withoutWork;
  const taken = await claimWorkOrNone(() => services.claimWork(agent));
  if (taken.kind === "none") return { ...withoutWork, gate: noWorkOutcome(taken.why) };
  const { claim, item } = taken;
  if (signal?.aborted) services.onAdmissionDecided(claim.job_id);
  const task = buildWorkPrompt(item, template, request.prompt !== undefined);
  const work = { trigger: "work_item" as const, jobId: claim.job_id, prompt: task };
  return { ...gated, request: { ...request, ...work } };
}

/** Triggers that would not be admitted must not claim work items. */
async function isBlocked(
  { state }: JobServices,
  { request, overlap }: Candidate,
  policy: NonNullable<Candidate["overlap"]>,
): Promise<boolean> {
  if (request.key && (await state.jobs.findByKey(request.key))) return true;
  const live = (await state.jobs.listLive()).filter(
    ({ agent, schedule }) => agent === request.agent && schedule === request.schedule,
  );
  const isBlockedBy = {
    skip: live.length > 0,
    queue: live.some(({ status }) => status === "pending"),
    cancel_running: false,
    allow: false,
  };
  return isBlockedBy[overlap ?? policy];
}

/** A source that does not answer has no work for now. The next due time tries again. */
async function claimWorkOrNone(
  claimWork: () => Promise<WorkClaimResult>,
): Promise<WorkClaimResult> {
  try {
    return await claimWork();
  } catch (error) {
    if (error instanceof UserError) return { kind: "none", why: error.message };
    throw error;
  }
}

function noWorkOutcome(message: string) {
  const hint = "You need not do anything: the next due time checks the source again.";
  return { code: "gate_closed" as const, message, hint };
}
