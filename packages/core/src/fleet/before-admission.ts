import { UserError } from "../errors/user-error.ts";
import type { Candidate } from "../queue/admit.ts";
import { isTimed } from "../triggers/schedule/plan.ts";
import type { Taken } from "../work/work-desk.ts";
import { workPrompt } from "../work/work-prompt.ts";
import type { FleetContext } from "./context.ts";
import { throughGate } from "./gates.ts";

/** A candidate after all that has to be asked first: its gate, then its agent's work source. */
export async function beforeAdmission(
  context: FleetContext,
  candidate: Candidate,
  signal?: AbortSignal,
): Promise<Candidate> {
  const gated = await throughGate(context, candidate, signal);
  const { agent: name, schedule: scheduleName = "", prompt, resume, fork } = candidate.request;
  const agent = context.fleet().agents.find((one) => one.name === name);
  const schedule = agent?.schedules[scheduleName];
  if (!agent?.work_source || !schedule || !isTimed(schedule)) return gated;
  // Whoever says what to do wants that done.
  if (prompt !== undefined || resume !== undefined || fork !== undefined) return gated;

  const { request } = gated;
  const template = request.prompt ?? schedule.prompt ?? agent.default_prompt;
  const idle = { ...gated, request: { ...request, prompt: template ?? "(no work was taken)" } };
  if (gated.gate || (await isTaken(context, candidate, schedule.overlap))) return idle;
  const taken = await take(() => context.takeWork(agent));
  if (taken.kind === "none") return { ...idle, gate: noWork(taken.why) };
  const { claim, item } = taken;
  if (signal?.aborted) context.decidedOn(claim.job_id);
  const task = workPrompt(item, template, request.prompt !== undefined);
  const work = { trigger: "work_item" as const, jobId: claim.job_id, prompt: task };
  return { ...gated, request: { ...request, ...work } };
}

/** What would not be admitted anyway takes nothing away from others. */
async function isTaken(
  { state }: FleetContext,
  { request, overlap }: Candidate,
  policy: NonNullable<Candidate["overlap"]>,
): Promise<boolean> {
  if (request.key && (await state.jobs.findByKey(request.key))) return true;
  const live = (await state.jobs.snapshot()).filter(
    ({ agent, schedule }) => agent === request.agent && schedule === request.schedule,
  );
  const inTheWay = {
    skip: live.length > 0,
    queue: live.some(({ status }) => status === "pending"),
    cancel_running: false,
    allow: false,
  };
  return inTheWay[overlap ?? policy];
}

/** A source that does not answer has no work now; that is asked again at the next due time. */
async function take(ask: () => Promise<Taken>): Promise<Taken> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof UserError) return { kind: "none", why: error.message };
    throw error;
  }
}

function noWork(message: string) {
  const hint = "Nothing to do; it is asked again next time.";
  return { code: "gate_closed" as const, message, hint };
}
