import { setImmediate as breathe } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";
import { failPoint } from "../faults/fail-point.ts";
import { admitAll, type Candidate, type TriggerRequest } from "../queue/admit.ts";
import type { Admitted } from "../state/admission.ts";
import type { WantedDelivery } from "../state/delivery.ts";
import type { Actor } from "../state/identity.ts";
import { dayOf } from "../triggers/schedule/day.ts";
import { beforeAdmission } from "./before-admission.ts";
import { cancelJob } from "./cancel-job.ts";
import type { FleetParts } from "./parts.ts";

/** Asks its gate, admits a trigger, tells of it, and has it started as soon as it may be. */
export async function triggerJob(
  parts: FleetParts,
  request: TriggerRequest,
  delivery?: WantedDelivery,
  actor?: Actor,
): Promise<Admitted> {
  // A schedule may have a gate, and what is true before that need not be after it.
  if (request.schedule === undefined) parts.context.ahead.begin(request.agent);
  const given = { request, delivery, by: actor?.identity };
  const candidate = (await mustAsk(parts, request))
    ? await beforeAdmission(parts.context, given)
    : given;
  const [admission] = await triggerAll(parts, [candidate], ({ job }) => {
    parts.own.add(job.id);
    if (request.watched) parts.watched.add(job.id);
    if (request.live) parts.live.add(job.id);
  });
  if (!admission) throw new Error("a trigger was not answered");
  return admission;
}

/** Only schedules have gates and work, and what was taken before is not asked about twice. */
async function mustAsk({ state }: FleetParts, { schedule, key }: TriggerRequest): Promise<boolean> {
  if (schedule === undefined) return false;
  return key === undefined || (await state.jobs.findByKey(key)) === undefined;
}

/** Several at once, all or none; what is to be known before they are told of is noted first. */
export async function triggerAll(
  parts: FleetParts,
  candidates: readonly Candidate[],
  note: (admission: Admitted) => void = () => undefined,
): Promise<Admitted[]> {
  const { context, dispatcher } = parts;
  failPoint("trigger accepted");
  const admissions = await admitNoticingTheDisk(parts, candidates).finally(() => {
    for (const { request } of candidates) if (request.jobId) context.decidedOn(request.jobId);
  });
  failPoint("job stored");
  for (const admission of admissions) {
    const { job, created, cancel } = admission;
    note(admission);
    if (!created) continue;
    context.hub.emit({ type: job.status === "skipped" ? "job:skipped" : "job:created", job });
    for (const id of cancel) await cancelJob(parts, id, false);
  }
  dispatcher.kick(admissions.flatMap(({ job, created }) => (created ? [job] : [])));
  // A job that may start is on its way before whoever asked for it is answered.
  await breathe();
  return admissions;
}

async function admitNoticingTheDisk(
  { state, context, plans }: FleetParts,
  given: readonly Candidate[],
): Promise<Admitted[]> {
  const candidates = given.map((one) => {
    const { agent, schedule = "" } = one.request;
    const plan = plans.find({ agent, schedule });
    return plan ? { ...one, planned: true, untrusted: one.untrusted || plan.untrusted } : one;
  });
  try {
    const { agents, fleet } = context.fleet();
    const rules = {
      day: () => dayOf(new Date(), fleet.timezone),
      budget: fleet.budget,
      chain: fleet.chain,
    };
    const admissions = await admitAll(state, agents, candidates, rules);
    context.writable(undefined);
    return admissions;
  } catch (error) {
    const isFull = error instanceof UserError && error.code === "state_unavailable";
    if (isFull) context.writable(error.message);
    throw error;
  }
}
