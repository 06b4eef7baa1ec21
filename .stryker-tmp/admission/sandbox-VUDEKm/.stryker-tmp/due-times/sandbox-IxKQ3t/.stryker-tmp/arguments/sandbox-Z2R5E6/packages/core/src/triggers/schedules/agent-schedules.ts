import { type Fleet, matchesPattern, type ResolvedAgent } from "@herdctl/config";
import type { ScheduleRef } from "@herdctl/protocol";
import type { EventHub } from "../../lib/event-hub.ts";
import type { IntervalOverride, OneShot } from "../../store/model/agent-schedule.ts";
import type { StateManager } from "../../store/state-manager.ts";

/** Schedules that agents planned or changed, applied over the configuration. */
export class AgentSchedules {
  private oneShots: OneShot[] = [];
  private intervals: IntervalOverride[] = [];
  /** Called after a change, to notify other nodes. */
  onChanged: () => void = () => undefined;
  private cached: { baseFleet: Fleet; fleet: Fleet } | undefined;

  constructor(
    private readonly state: StateManager,
    hub: EventHub,
  ) {
    for (const type of ["job:created", "job:skipped"] as const)
      hub.on(type, ({ job: { agent, schedule } }) => this.removeSettled({ agent, schedule }));
    hub.on("schedule:not_run", ({ due }) => this.removeSettled(due));
  }

  /** Reads the state again. */
  async reload(): Promise<void> {
    this.oneShots = await this.state.schedules.listOneShots();
    this.intervals = await this.state.schedules.listIntervalOverrides();
    this.cached = undefined;
  }

  /** Reads the state again after a change by this process. */
  async reloadAndNotify(): Promise<void> {
    await this.reload();
    this.onChanged();
  }

  applyTo(baseFleet: Fleet): Fleet {
    if (this.cached?.baseFleet !== baseFleet)
      this.cached = {
        baseFleet,
        fleet: applyAgentSchedules(baseFleet, this.oneShots, this.intervals),
      };
    return this.cached.fleet;
  }

  pendingOf(agent: string): OneShot[] {
    return this.oneShots.filter((run) => run.agent === agent);
  }

  /** The run that an agent planned under this name. */
  find({ agent, schedule }: ScheduleRef): OneShot | undefined {
    return this.pendingOf(agent).find((run) => run.schedule === schedule);
  }

  /** The store removed the run in the transaction in which it came due. */
  private removeSettled({ agent, schedule }: { agent: string; schedule: string | null }): void {
    const remaining = this.oneShots.filter(
      (run) => run.agent !== agent || run.schedule !== schedule,
    );
    if (remaining.length === this.oneShots.length) return;
    this.oneShots = remaining;
    this.cached = undefined;
  }
}

export type SelfSchedulingLimits = ResolvedAgent["may_schedule"];

/** A run that an agent wants to plan for itself. */
export interface RequestedRun {
  at: Date;
  prompt: string;
}

/** Whether the agent may plan the run alone, needs a person's permission, or cannot plan it. */
export type SelfScheduleDecision =
  | { kind: "allow" }
  | { kind: "ask"; reason: string }
  | { kind: "refuse"; reason: string };

export function decideSelfSchedule(
  { at, prompt }: RequestedRun,
  limits: SelfSchedulingLimits,
  { pendingCount, now }: { pendingCount: number; now: Date },
): SelfScheduleDecision {
  const leadTimeMs = at.getTime() - now.getTime();
  if (leadTimeMs <= 0) return { kind: "refuse", reason: "This time has passed." };
  if (!limits) return ask("The agent has no `may_schedule`.");
  const { max_pending, min_delay, prompts } = limits;
  // defence: agent-schedule-limit
  if (pendingCount >= max_pending)
    return ask(`It already has ${pendingCount} planned runs; the limit is ${max_pending}.`);
  if (leadTimeMs < min_delay) return ask("The run is earlier than `min_delay` allows.");
  if (prompts && !prompts.some((pattern) => matchesPattern(pattern, prompt)))
    return ask("The prompt is not one of the allowed `prompts`.");
  return { kind: "allow" };
}

function ask(reason: string): SelfScheduleDecision {
  return { kind: "ask", reason };
}

type Schedules = ResolvedAgent["schedules"];

type OneShotConfig = Extract<Schedules[string], { type: "at" }>;

/** The configuration with the schedules and intervals that agents set. */
export function applyAgentSchedules(
  fleet: Fleet,
  oneShots: readonly OneShot[],
  intervals: readonly IntervalOverride[],
): Fleet {
  if (oneShots.length + intervals.length === 0) return fleet;
  const agents = fleet.agents.map((agent) => {
    const isOwn = (item: { agent: string }) => item.agent === agent.name;
    const changedConfigs = changedSchedules(agent.schedules, intervals.filter(isOwn));
    const oneShotConfigs = oneShots
      .filter(isOwn)
      .map((run) => [run.schedule, oneShotConfig(run)] as const);
    return { ...agent, schedules: { ...changedConfigs, ...Object.fromEntries(oneShotConfigs) } };
  });
  return { ...fleet, agents };
}

function changedSchedules(schedules: Schedules, intervals: readonly IntervalOverride[]): Schedules {
  return Object.fromEntries(
    Object.entries(schedules).map(([name, config]) => {
      const interval = intervals.find(({ schedule }) => schedule === name);
      // An interval that was changed in the configuration replaces the agent's change.
      const isInForce = config.type === "interval" && interval?.instead_of === config.every;
      return [name, isInForce && interval ? { ...config, every: interval.every } : config];
    }),
  );
}

const catchUpWindowMs = 24 * 60 * 60_000;

function oneShotConfig({ at, prompt }: OneShot): OneShotConfig {
  return {
    type: "at",
    at,
    prompt,
    enabled: true,
    overlap: "allow",
    catch_up: "latest",
    catch_up_window: catchUpWindowMs,
  };
}
