import { parseDuration } from "../../config/schema/quantities.ts";
import type { ScheduleInput } from "../../herd-tools/schedule.ts";
import type { ErrandAnswer } from "../../state/errand.ts";
import type { Job } from "../../state/job.ts";
import { fillPrompt } from "../../triggers/prompt-template.ts";
import {
  decidePlan,
  type PlanDecision,
  type WantedRun,
} from "../../triggers/schedule/decide-plan.ts";
import type { FleetParts } from "../parts.ts";
import { askPermission } from "./ask-permission.ts";
import { done, type Errand, keyOfErrand, refused } from "./errand.ts";

/** Plans one run of the agent itself: at once within its bounds, beyond them if a person allows it. */
export async function planRun(
  parts: FleetParts,
  errand: Errand,
  job: Job,
  input: ScheduleInput,
): Promise<ErrandAnswer> {
  const at = timeOf(input);
  const { prompt } = input;
  if (!at || prompt === undefined) return refused("`plan` needs `at` or `in`, and a `prompt`.");
  const wanted = { at, prompt };
  // Decided and kept in one turn: of several at once each sees those before it.
  const decided = await parts.errands.inTurn(async (): Promise<ErrandAnswer | { why: string }> => {
    const decision = decide(parts, errand, job, wanted);
    if (decision.kind === "allow") return keep(parts, errand, job, wanted);
    return decision.kind === "ask" ? { why: decision.why } : refused(decision.why);
  });
  if ("kind" in decided) return decided;
  const denied = await askPermission(errand, decided.why, { at: at.toISOString() });
  if (denied) return denied;
  if (at.getTime() <= Date.now()) return refused("This time has passed meanwhile.");
  return parts.errands.inTurn(() => keep(parts, errand, job, wanted));
}

function decide(
  { plans, context }: FleetParts,
  errand: Errand,
  job: Job,
  wanted: WantedRun,
): PlanDecision {
  const open = plans.openOf(job.agent);
  const key = keyOfErrand(errand);
  if (open.some((one) => one.key === key)) return { kind: "allow" };
  const bounds = context.fleet().agents.find(({ name }) => name === job.agent)?.may_schedule;
  return decidePlan(wanted, bounds, { open: open.length, now: new Date() });
}

async function keep(
  { state, plans, clock }: FleetParts,
  errand: Errand,
  { untrusted, agent, id: job_id }: Job,
  { at, prompt }: WantedRun,
): Promise<ErrandAnswer> {
  const told = untrusted ? fillPrompt(fencedPlan, { plan: { prompt } }) : prompt;
  const key = keyOfErrand(errand);
  const once = { agent, at: at.toISOString(), prompt: told, job_id, untrusted, key };
  const planned = await state.schedules.planOnce(once);
  await plans.changed();
  await clock?.replan();
  return done(`You run at ${planned.at}, as the schedule \`${planned.schedule}\`.`);
}

const fencedPlan =
  "An earlier run of yours, which had read text from outside, planned this.\n{{plan.prompt}}";

function timeOf({ at, in: lead }: ScheduleInput): Date | undefined {
  if (at !== undefined) return new Date(at);
  const milliseconds = lead === undefined ? undefined : parseDuration(lead);
  return typeof milliseconds === "number" ? new Date(Date.now() + milliseconds) : undefined;
}
