import type {
  DueTimePage,
  DueTimeQuery,
  ScheduleRef,
  SchedulesApi,
  ScheduleView,
} from "@herdctl/protocol";
import {
  removeAgentSchedule,
  setScheduleEnabled,
} from "../../triggers/schedules/change-schedule.ts";
import { viewSchedules } from "../../triggers/schedules/schedule-view.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetSchedules implements SchedulesApi {
  constructor(private readonly context: FleetContext) {}

  list(): Promise<ScheduleView[]> {
    return this.context.read(({ state, fleet }) => viewSchedules(fleet(), state, new Date()));
  }

  dueTimes(query: DueTimeQuery = {}): Promise<DueTimePage> {
    return this.context.read(({ state }) => state.schedules.listDueRecords(query));
  }

  enable(schedule: ScheduleRef): Promise<ScheduleView> {
    return this.setEnabled(schedule, true);
  }

  disable(schedule: ScheduleRef): Promise<ScheduleView> {
    return this.setEnabled(schedule, false);
  }

  remove(schedule: ScheduleRef): Promise<void> {
    const action = { action: "schedule.remove" as const, target: targetOf(schedule) };
    return this.context.perform(action, (services) => removeAgentSchedule(services, schedule));
  }

  private setEnabled(schedule: ScheduleRef, enabled: boolean): Promise<ScheduleView> {
    const target = targetOf(schedule);
    return this.context.perform(
      { action: "schedule.switch", target, details: { enabled } },
      (services) => setScheduleEnabled(services, schedule, enabled),
    );
  }
}

function targetOf({ agent, schedule }: ScheduleRef): string {
  return `${agent}/${schedule}`;
}
