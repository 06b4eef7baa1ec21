import type { LoadedFleet, ResolvedAgent } from "@herdctl/config";
import type {
  AgentStatus,
  BudgetDay,
  FleetStatus,
  ScheduleRef,
  UnfinishedJob,
} from "@herdctl/protocol";
import type { Membership } from "../../cluster/membership.ts";
import { today } from "../../jobs/admission/decide-admission.ts";
import { findPauses } from "../../jobs/dispatch/agent-pauses.ts";
import { defaultFleetLimit, occupiesAgentSlot } from "../../jobs/dispatch/claim.ts";
import type { RunningJob } from "../../jobs/services.ts";
import type { Pause } from "../../store/model/pause.ts";
import type { StateManager } from "../../store/state-manager.ts";

interface StatusInput {
  loaded: LoadedFleet;
  state: StateManager;
  activeJobs: Iterable<RunningJob>;
  /** Set where nodes share the state. */
  nodes?: Pick<Membership, "id" | "find">;
  /** The next due times, soonest first. */
  nextDueTimes: readonly (ScheduleRef & { due_at: string })[];
  version: string;
  startedAt: Date;
  condition: Pick<FleetStatus["fleet"], "state" | "problem">;
  url: string | null;
}

export async function viewFleetStatus(input: StatusInput): Promise<FleetStatus> {
  const records = await readRecords(input);
  const { liveJobs, costs } = records;
  const { fleet, file } = input.loaded.fleet;
  return {
    fleet: {
      name: fleet.name,
      file,
      pid: process.pid,
      version: input.version,
      started_at: input.startedAt.toISOString(),
      ...input.condition,
      pending: countByStatus(liveJobs, "pending"),
      running: countByStatus(liveJobs, "running"),
      waiting: countByStatus(liveJobs, "waiting"),
      max_concurrent: fleet.max_concurrent ?? defaultFleetLimit,
      cost_today_usd: roundUsd([...costs.values()].reduce((sum, cost) => sum + cost, 0)),
      url: input.url,
      shared: input.loaded.fleet.store !== undefined,
    },
    agents: await agentStatuses(input, records),
  };
}

/** The status of agents from the configuration and the state alone, while no fleet runs. */
export async function viewAgents(loaded: LoadedFleet, state: StateManager): Promise<AgentStatus[]> {
  const input = { loaded, state, activeJobs: [], nextDueTimes: [] };
  return agentStatuses(input, await readRecords(input));
}

type AgentStatusInput = Pick<
  StatusInput,
  "loaded" | "state" | "activeJobs" | "nextDueTimes" | "nodes"
>;

type ScheduleSwitch = ScheduleRef & { enabled: boolean };

/** Records that are read once for all agents. */
interface StatusRecords {
  liveJobs: UnfinishedJob[];
  costs: Map<string, number>;
  pauseOf: (agent: ResolvedAgent) => Pause | undefined;
  switches: ScheduleSwitch[];
}

async function readRecords({ loaded, state }: AgentStatusInput): Promise<StatusRecords> {
  return {
    liveJobs: await state.jobs.listLive(),
    costs: await costsOfDay(state, today(loaded.fleet)),
    pauseOf: findPauses(loaded.environment, await state.pauses.list()),
    switches: await state.schedules.listSwitches(),
  };
}

async function costsOfDay(
  { budgets }: StateManager,
  { name }: BudgetDay,
): Promise<Map<string, number>> {
  const costs = await budgets.listCosts({ by: "agent", since: name, until: name });
  return new Map(costs.map(({ agent, usd }) => [agent ?? "", usd]));
}

function agentStatuses(input: AgentStatusInput, records: StatusRecords): Promise<AgentStatus[]> {
  return Promise.all(input.loaded.fleet.agents.map((agent) => agentStatus(input, agent, records)));
}

async function agentStatus(
  { state, activeJobs, nextDueTimes, nodes }: AgentStatusInput,
  agent: ResolvedAgent,
  { liveJobs, costs, pauseOf, switches }: StatusRecords,
): Promise<AgentStatus> {
  const { name } = agent;
  const agentJobs = liveJobs.filter((job) => job.agent === name);
  const pause = pauseOf(agent);
  const last = await state.jobs.lastFinished(name);
  return {
    name,
    description: agent.description ?? null,
    labels: agent.labels,
    runtime: agent.runtime.type,
    docker: agent.docker.enabled,
    paused: pause ? { reason: pause.message, since: pause.since } : null,
    pending: countByStatus(agentJobs, "pending"),
    waiting: countByStatus(agentJobs, "waiting"),
    max_concurrent: agent.max_concurrent,
    running: [
      ...runningHere(activeJobs, nodes, name),
      ...(await runningElsewhere(state, nodes, agentJobs)),
    ],
    schedules: schedulesOf(agent, switches),
    last_job: last
      ? { id: last.id, outcome: last.outcome?.code ?? null, finished_at: last.finished_at }
      : null,
    next_due: pause ? null : nextDueOf(nextDueTimes, name),
    cost_today_usd: roundUsd(costs.get(name) ?? 0),
  };
}

type RunningView = AgentStatus["running"];

function runningHere(
  activeJobs: Iterable<RunningJob>,
  nodes: StatusInput["nodes"],
  name: string,
): RunningView {
  const node = nodes ? nodes.find(nodes.id).name : null;
  return [...activeJobs]
    .filter((job) => job.agent === name)
    .map((job) => ({ job_id: job.id, started_at: job.startedAt, activity: job.activity, node }));
}

/** For jobs on other nodes, the records show their status but not their activity. */
async function runningElsewhere(
  { jobs }: StateManager,
  nodes: StatusInput["nodes"],
  liveJobs: readonly UnfinishedJob[],
): Promise<RunningView> {
  const isElsewhere = ({ node, assigned }: UnfinishedJob) => (assigned?.node ?? node) !== nodes?.id;
  const others = nodes ? liveJobs.filter((job) => occupiesAgentSlot(job) && isElsewhere(job)) : [];
  const records = await Promise.all(others.map(({ id }) => jobs.get(id)));
  return records.flatMap((job) => {
    const node = job?.assigned?.node ?? job?.node;
    if (!job || !nodes || node == null) return [];
    const activity = job.assigned ? "starting" : job.status === "waiting" ? "waiting" : "running";
    const started_at = job.started_at ?? job.created_at;
    return [{ job_id: job.id, started_at, activity, node: nodes.find(node).name }];
  });
}

/** A switch set by a person overrides the configuration. */
function schedulesOf(
  { name: agent, schedules }: ResolvedAgent,
  switches: ScheduleSwitch[],
): AgentStatus["schedules"] {
  return Object.entries(schedules).map(([name, { type, enabled }]) => {
    const switched = switches.find((entry) => entry.agent === agent && entry.schedule === name);
    return { name, type, enabled: switched?.enabled ?? enabled };
  });
}

function nextDueOf(
  nextDueTimes: StatusInput["nextDueTimes"],
  name: string,
): AgentStatus["next_due"] {
  const found = nextDueTimes.find(({ agent }) => agent === name);
  return found ? { schedule: found.schedule, due_at: found.due_at } : null;
}

function countByStatus(jobs: UnfinishedJob[], status: UnfinishedJob["status"]): number {
  return jobs.filter((job) => job.status === status).length;
}

/** Sums of dollars have binary noise, such as 0.30000000000000004. */
function roundUsd(amount: number): number {
  return Math.round(amount * 1e9) / 1e9;
}
