import type {
  AgentStatus,
  AgentsApi,
  DueTimePage,
  DueTimeQuery,
  FleetStatus,
  Note,
  NotesApi,
  ScheduleRef,
  SchedulesApi,
  ScheduleView,
} from "@herdctl/protocol";
import { AgentMemory, memoryDir } from "../../store/files/agent-memory.ts";
import {
  removeAgentSchedule,
  setScheduleEnabled,
} from "../../triggers/schedules/change-schedule.ts";
import { viewSchedules } from "../../triggers/schedules/schedule-view.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetAgents implements AgentsApi {
  constructor(
    private readonly context: FleetContext,
    private readonly status: () => Promise<FleetStatus>,
  ) {}

  async list(): Promise<AgentStatus[]> {
    return (await this.status()).agents;
  }

  async get(agent: string): Promise<AgentStatus | undefined> {
    return (await this.list()).find(({ name }) => name === agent);
  }

  pause(agent: string): Promise<void> {
    return this.context.perform({ action: "agent.pause", target: agent }, ({ pauses }) =>
      pauses.pause(this.context.lifecycle.agent(agent), this.context.actor.identity),
    );
  }

  resume(agent: string): Promise<void> {
    const action = { action: "agent.resume" as const, target: agent };
    return this.context.perform(action, async ({ pauses, dispatcher }) => {
      await pauses.lift(this.context.lifecycle.agent(agent));
      dispatcher.wake();
    });
  }
}

export class FleetNotes implements NotesApi {
  constructor(private readonly context: FleetContext) {}

  list(agent: string): Promise<Note[]> {
    return this.context.read(async () => this.memoryOf(agent).list());
  }

  read(agent: string, name: string): Promise<string | undefined> {
    return this.context.read(async () => this.memoryOf(agent).read(name));
  }

  private memoryOf(agent: string): AgentMemory {
    const { lifecycle } = this.context;
    const { stateDir } = lifecycle.runningServices.state;
    return new AgentMemory(memoryDir(stateDir, lifecycle.agent(agent).name));
  }
}

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
