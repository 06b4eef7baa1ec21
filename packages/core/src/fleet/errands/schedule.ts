import { parseDuration } from "../../config/schema/quantities.ts";
import { type ScheduleInput, scheduleInput } from "../../herd-tools/schedule.ts";
import type { ErrandAnswer } from "../../state/errand.ts";
import type { Job } from "../../state/job.ts";
import type { FleetParts } from "../parts.ts";
import { removePlan } from "../remove-plan.ts";
import { viewSchedules } from "../schedule-view.ts";
import { switchSchedule } from "../switch-schedule.ts";
import { askPermission } from "./ask-permission.ts";
import { done, type Errand, refused } from "./errand.ts";
import { noteOutside } from "./outside.ts";
import { planRun } from "./plan-run.ts";

interface Wish {
  errand: Errand;
  job: Job;
  input: ScheduleInput;
}

type Action = (parts: FleetParts, wish: Wish) => Promise<ErrandAnswer>;

const actions: Record<ScheduleInput["action"], Action> = {
  list: async (parts, { job }) => done(await listText(parts, job.agent)),
  plan: (parts, { errand, job, input }) => planRun(parts, errand, job, input),
  remove,
  switch: switchOwn,
  change,
};

/** An agent looks at its own schedules, or wants something done about them. */
export async function runScheduleErrand(parts: FleetParts, errand: Errand): Promise<ErrandAnswer> {
  const input = scheduleInput.parse(errand.asked.input);
  const job = await noteOutside(parts.state, errand.jobId);
  return actions[input.action](parts, { errand, job, input });
}

async function listText({ state, context }: FleetParts, agent: string): Promise<string> {
  const views = await viewSchedules(context.fleet(), state, new Date());
  const own = views.filter((one) => one.agent === agent);
  return JSON.stringify({
    now: new Date().toISOString(),
    schedules: own.map(({ schedule, type, when, enabled, next, last, planned_by }) => {
      const ended = last && { due_at: last.due_at, result: last.result, reason: last.reason };
      return { schedule, type, when, enabled, next, last: ended, planned_by_you: !!planned_by };
    }),
  });
}

/** What an agent planned it may take back; all else is the operator's. */
async function remove(parts: FleetParts, { job, input }: Wish): Promise<ErrandAnswer> {
  const { schedule = "" } = input;
  if (!parts.plans.openOf(job.agent).some((one) => one.schedule === schedule))
    return refused(`You have planned no run \`${schedule}\`.`);
  await removePlan(parts, { agent: job.agent, schedule });
  return done("It is taken back.");
}

async function switchOwn(parts: FleetParts, { errand, job, input }: Wish): Promise<ErrandAnswer> {
  const { schedule, enabled } = input;
  if (schedule === undefined || enabled === undefined)
    return refused("`switch` needs `schedule` and `enabled`.");
  const denied = await askPermission(errand, "It wants to switch a schedule of its own.");
  if (denied) return denied;
  await switchSchedule(parts, { agent: job.agent, schedule }, enabled);
  return done(`\`${schedule}\` is ${enabled ? "on" : "off"}.`);
}

async function change(parts: FleetParts, { errand, job, input }: Wish): Promise<ErrandAnswer> {
  const { state, plans, clock, context } = parts;
  const { schedule = "" } = input;
  const every = input.every === undefined ? undefined : parseDuration(input.every);
  const agent = context.fleet().agents.find(({ name }) => name === job.agent);
  const config = agent?.schedules[schedule];
  if (typeof every !== "number" || every < 1)
    return refused("`change` needs `every`, such as 30m.");
  if (config?.type !== "interval") return refused(`\`${schedule}\` is no interval of yours.`);
  const denied = await askPermission(
    errand,
    "It wants another interval for a schedule of its own.",
  );
  if (denied) return denied;
  const before = (await state.schedules.intervals()).find(
    (one) => one.agent === job.agent && one.schedule === schedule && one.every === config.every,
  );
  const instead_of = before?.instead_of ?? config.every;
  const changed = { agent: job.agent, schedule, every, instead_of, job_id: job.id };
  await state.schedules.changeInterval(changed);
  await plans.changed();
  await clock?.replan();
  return done(`\`${schedule}\` runs every ${input.every}.`);
}
