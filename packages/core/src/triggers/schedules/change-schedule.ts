import { type ScheduleRef, type ScheduleView, UserError } from "@herdctl/protocol";
import type { JobServices } from "../../jobs/services.ts";
import type { StateManager } from "../../store/state-manager.ts";
import type { AgentSchedules } from "./agent-schedules.ts";
import type { ScheduleClock } from "./schedule-clock.ts";
import { viewSchedules } from "./schedule-view.ts";

interface ScheduleDeps extends Pick<JobServices, "state" | "hub" | "fleet"> {
  /** Undefined while no schedules run in this process. */
  clock?: ScheduleClock;
}

/**
 * Switches a schedule on or off until it is switched again. Due times before that are settled with
 * the old state.
 */
export async function setScheduleEnabled(
  { state, hub, fleet, clock }: ScheduleDeps,
  { agent, schedule }: ScheduleRef,
  enabled: boolean,
): Promise<ScheduleView> {
  const findView = async () => {
    const views = await viewSchedules(fleet(), state, new Date());
    return views.find((view) => view.agent === agent && view.schedule === schedule);
  };
  if (!(await findView())) {
    throw new UserError("schedule_not_found", `\`${agent}\` has no schedule \`${schedule}\``);
  }
  await state.schedules.setEnabled({ agent, schedule }, enabled);
  await clock?.replan();
  hub.emit({ type: "schedule:toggled", agent, schedule, enabled });
  const view = await findView();
  if (!view) throw new Error(`${agent}/${schedule} is gone`);
  return view;
}

interface AgentScheduleDeps {
  state: StateManager;
  agentSchedules: AgentSchedules;
  clock?: ScheduleClock;
}

/** Removes what an agent planned or changed. Only the operator changes configured schedules. */
export async function removeAgentSchedule(
  { state, agentSchedules, clock }: AgentScheduleDeps,
  name: ScheduleRef,
): Promise<void> {
  if (!(await state.schedules.removeAgentSchedule(name))) {
    const message = `\`${name.schedule}\` of \`${name.agent}\` was not planned by an agent`;
    throw new UserError("schedule_not_found", message, {
      hint: "Remove a configured schedule from the configuration, or disable it.",
    });
  }
  await agentSchedules.reloadAndNotify();
  await clock?.replan();
}
