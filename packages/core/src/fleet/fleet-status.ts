import type { LoadedFleet } from "../config/load.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { LiveJob } from "../state/job.ts";
import type { Pause } from "../state/pause.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { ActiveJob } from "./active-job.ts";
import { today } from "./budget-view.ts";
import type { AgentStatus, FleetStatus } from "./control.ts";
import { pauseOf } from "./pauses.ts";

export interface StatusFacts {
  loaded: LoadedFleet;
  state: StateManager;
  active: Iterable<ActiveJob>;
  /** What comes due next, the soonest first. */
  next: readonly (ScheduleName & { due_at: string })[];
  version: string;
  startedAt: Date;
  condition: FleetStatus["fleet"]["state"];
  problem: string | null;
}

/** The fleet as it is now, for whoever looks at it. */
export async function fleetStatus(facts: StatusFacts): Promise<FleetStatus> {
  const { loaded, state } = facts;
  const live = await state.jobs.snapshot();
  const costs = await state.jobs.costSince(today(loaded.fleet).start);
  const pauses = await state.pauses.list();
  const agents = await Promise.all(
    loaded.fleet.agents.map((agent) => agentStatus(facts, agent.name, live, costs, pauses)),
  );
  const { fleet, file } = loaded.fleet;
  return {
    fleet: {
      name: fleet.name,
      file,
      pid: process.pid,
      version: facts.version,
      started_at: facts.startedAt.toISOString(),
      state: facts.condition,
      problem: facts.problem,
      pending: count(live, "pending"),
      running: count(live, "running"),
      waiting: count(live, "waiting"),
      cost_today_usd: [...costs.values()].reduce((sum, cost) => sum + cost, 0),
    },
    agents,
  };
}

async function agentStatus(
  { loaded, state, active, next }: StatusFacts,
  name: string,
  live: LiveJob[],
  costs: Map<string, number>,
  pauses: Pause[],
): Promise<AgentStatus> {
  const agent = loaded.fleet.agents.find((one) => one.name === name);
  const own = live.filter((job) => job.agent === name);
  const pause = agent && pauseOf(agent, loaded.environment, pauses);
  const [last] = (await state.jobs.list({ agent: name, limit: 1 })).jobs;
  return {
    name,
    description: agent?.description ?? null,
    runtime: agent?.runtime.type ?? "sdk",
    docker: agent?.docker.enabled ?? false,
    paused: pause ? { reason: pause.message, since: pause.since } : null,
    pending: count(own, "pending"),
    waiting: count(own, "waiting"),
    running: [...active]
      .filter((job) => job.agent === name)
      .map((job) => ({ job_id: job.id, started_at: job.startedAt, doing: job.doing })),
    last_job: last
      ? { id: last.id, outcome: last.outcome?.code ?? null, finished_at: last.finished_at }
      : null,
    next_due: nextOf(next, name),
    cost_today_usd: costs.get(name) ?? 0,
  };
}

function nextOf(next: StatusFacts["next"], name: string): AgentStatus["next_due"] {
  const found = next.find(({ agent }) => agent === name);
  return found ? { schedule: found.schedule, due_at: found.due_at } : null;
}

function count(jobs: LiveJob[], status: LiveJob["status"]): number {
  return jobs.filter((job) => job.status === status).length;
}
