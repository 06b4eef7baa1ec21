import type { LoadedFleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { isBusy } from "../queue/claim.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { LiveJob } from "../state/job.ts";
import type { Pause } from "../state/pause.ts";
import type { Day } from "../state/spending.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { ActiveJob } from "./active-job.ts";
import { today } from "./budget-view.ts";
import type { AgentStatus, FleetStatus } from "./control.ts";
import type { Membership } from "./nodes/membership.ts";
import { findPauses } from "./pauses.ts";

export interface StatusFacts {
  loaded: LoadedFleet;
  state: StateManager;
  active: Iterable<ActiveJob>;
  /** Where nodes share the state. */
  nodes?: Pick<Membership, "id" | "find">;
  /** What comes due next, the soonest first. */
  next: readonly (ScheduleName & { due_at: string })[];
  version: string;
  startedAt: Date;
  condition: Pick<FleetStatus["fleet"], "state" | "problem">;
  url: string | null;
}

/** The fleet as it is now, for whoever looks at it. */
export async function fleetStatus(facts: StatusFacts): Promise<FleetStatus> {
  const records = await readRecords(facts);
  const { live, costs } = records;
  const { fleet, file } = facts.loaded.fleet;
  return {
    fleet: {
      name: fleet.name,
      file,
      pid: process.pid,
      version: facts.version,
      started_at: facts.startedAt.toISOString(),
      ...facts.condition,
      pending: count(live, "pending"),
      running: count(live, "running"),
      waiting: count(live, "waiting"),
      cost_today_usd: [...costs.values()].reduce((sum, cost) => sum + cost, 0),
      url: facts.url,
      shared: facts.loaded.fleet.store !== undefined,
    },
    agents: await agentStatuses(facts, records),
  };
}

/** What can be said of agents from the configuration and the state alone, where no fleet runs. */
export async function viewAgents(loaded: LoadedFleet, state: StateManager): Promise<AgentStatus[]> {
  const facts = { loaded, state, active: [], next: [] };
  return agentStatuses(facts, await readRecords(facts));
}

type AgentFacts = Pick<StatusFacts, "loaded" | "state" | "active" | "next" | "nodes">;

type Switch = ScheduleName & { enabled: boolean };

/** What is on record of all agents together. */
interface Records {
  live: LiveJob[];
  costs: Map<string, number>;
  pauseOf: (agent: ResolvedAgent) => Pause | undefined;
  switches: Switch[];
}

async function readRecords({ loaded, state }: AgentFacts): Promise<Records> {
  return {
    live: await state.jobs.snapshot(),
    costs: await costsOfDay(state, today(loaded.fleet)),
    pauseOf: findPauses(loaded.environment, await state.pauses.list()),
    switches: await state.schedules.switches(),
  };
}

async function costsOfDay({ budgets }: StateManager, { name }: Day): Promise<Map<string, number>> {
  const costs = await budgets.costs({ by: "agent", since: name, until: name });
  return new Map(costs.map(({ agent, usd }) => [agent ?? "", usd]));
}

function agentStatuses(facts: AgentFacts, records: Records): Promise<AgentStatus[]> {
  return Promise.all(facts.loaded.fleet.agents.map((agent) => agentStatus(facts, agent, records)));
}

async function agentStatus(
  { state, active, next, nodes }: AgentFacts,
  agent: ResolvedAgent,
  { live, costs, pauseOf, switches }: Records,
): Promise<AgentStatus> {
  const { name } = agent;
  const own = live.filter((job) => job.agent === name);
  const pause = pauseOf(agent);
  const last = await state.jobs.lastEnded(name);
  return {
    name,
    description: agent.description ?? null,
    runtime: agent.runtime.type,
    docker: agent.docker.enabled,
    paused: pause ? { reason: pause.message, since: pause.since } : null,
    pending: count(own, "pending"),
    waiting: count(own, "waiting"),
    running: [...runningHere(active, nodes, name), ...(await runningElsewhere(state, nodes, own))],
    schedules: schedulesOf(agent, switches),
    last_job: last
      ? { id: last.id, outcome: last.outcome?.code ?? null, finished_at: last.finished_at }
      : null,
    next_due: nextOf(next, name),
    cost_today_usd: costs.get(name) ?? 0,
  };
}

type Running = AgentStatus["running"];

function runningHere(
  active: Iterable<ActiveJob>,
  nodes: StatusFacts["nodes"],
  name: string,
): Running {
  const node = nodes ? nodes.find(nodes.id).name : null;
  return [...active]
    .filter((job) => job.agent === name)
    .map((job) => ({ job_id: job.id, started_at: job.startedAt, doing: job.doing, node }));
}

/** What they do in detail is known where they run; here, what their records say. */
async function runningElsewhere(
  { jobs }: StateManager,
  nodes: StatusFacts["nodes"],
  live: readonly LiveJob[],
): Promise<Running> {
  const isElsewhere = ({ node, assigned }: LiveJob) => (assigned?.node ?? node) !== nodes?.id;
  const others = nodes ? live.filter((job) => isBusy(job) && isElsewhere(job)) : [];
  const records = await Promise.all(others.map(({ id }) => jobs.get(id)));
  return records.flatMap((job) => {
    const node = job?.assigned?.node ?? job?.node;
    if (!job || !nodes || node == null) return [];
    const doing = job.assigned ? "starting" : job.status === "waiting" ? "waiting" : "running";
    const started_at = job.started_at ?? job.created_at;
    return [{ job_id: job.id, started_at, doing, node: nodes.find(node).name }];
  });
}

/** What a person switched counts more than what is configured. */
function schedulesOf(
  { name: agent, schedules }: ResolvedAgent,
  switches: Switch[],
): AgentStatus["schedules"] {
  return Object.entries(schedules).map(([name, { type, enabled }]) => {
    const switched = switches.find((one) => one.agent === agent && one.schedule === name);
    return { name, type, enabled: switched?.enabled ?? enabled };
  });
}

function nextOf(next: StatusFacts["next"], name: string): AgentStatus["next_due"] {
  const found = next.find(({ agent }) => agent === name);
  return found ? { schedule: found.schedule, due_at: found.due_at } : null;
}

function count(jobs: LiveJob[], status: LiveJob["status"]): number {
  return jobs.filter((job) => job.status === status).length;
}
