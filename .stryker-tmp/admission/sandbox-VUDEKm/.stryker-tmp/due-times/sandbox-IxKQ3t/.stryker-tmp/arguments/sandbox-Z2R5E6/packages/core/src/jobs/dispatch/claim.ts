import type { Job, UnfinishedJob } from "@herdctl/protocol";

/**
 * Default for fleets without `max_concurrent`. Each run is a process of a few hundred megabytes.
 */
export const defaultFleetLimit = 10;

export interface ClaimLimits {
  /** `max_concurrent` of the fleet. */
  fleet: number | undefined;
  /** `max_concurrent` by agent. Jobs of other agents are not claimed. */
  agents: ReadonlyMap<string, number>;
  paused: ReadonlySet<string>;
  /** A number per agent that grows with each started job; absent if no job was started. */
  servedAt: ReadonlyMap<string, number>;
  /** No job starts before this time. */
  notBefore?: Date;
}

/**
 * The jobs to start now, in order. Priority comes first, then the agent with the fewest running
 * jobs, then the agent served least recently, then the oldest job. The snapshot is sorted by age.
 */
export function claim(
  snapshot: readonly UnfinishedJob[],
  limits: ClaimLimits,
  now: Date,
  /** Whether there is a place for the job. Jobs without a place do not hold back others. */
  canPlace: (job: UnfinishedJob) => boolean = () => true,
): string[] {
  if (limits.notBefore && now < limits.notBefore) return [];
  const queues = queuesOf(snapshot, limits, now);
  const claimed: string[] = [];
  let sequence = Math.max(neverServed, ...limits.servedAt.values());
  for (let freeSlots = freeFleetSlots(snapshot, limits); freeSlots > 0; ) {
    const next = nextQueue(queues);
    const job = next?.jobs.shift();
    if (!next || !job) break;
    if (!canPlace(job)) continue;
    claimed.push(job.id);
    freeSlots -= 1;
    next.running += 1;
    next.lastServed = ++sequence;
  }
  return claimed;
}

/** When the next job may be claimed; undefined if only an event can change that. */
export function nextDue(
  snapshot: readonly UnfinishedJob[],
  { notBefore }: Pick<ClaimLimits, "notBefore">,
  now: Date,
): Date | undefined {
  const waitingJobs = snapshot.filter((job) => !occupiesAgentSlot(job));
  const earliest = notBefore?.getTime() ?? 0;
  const times = waitingJobs
    .map((job) => Math.max(earliest, job.due_at === null ? 0 : Date.parse(job.due_at)))
    .filter((time) => time > now.getTime());
  return times.length === 0 ? undefined : new Date(times.reduce((a, b) => Math.min(a, b)));
}

const neverServed = 0;

/** The jobs of one agent that may start, the next one first. */
interface AgentQueue {
  limit: number;
  running: number;
  lastServed: number;
  jobs: UnfinishedJob[];
}

function queuesOf(
  snapshot: readonly UnfinishedJob[],
  limits: ClaimLimits,
  now: Date,
): AgentQueue[] {
  const queues = new Map<string, AgentQueue>();
  for (const [agent, limit] of limits.agents) {
    if (limits.paused.has(agent)) continue;
    const lastServed = limits.servedAt.get(agent) ?? neverServed;
    queues.set(agent, { limit, running: 0, lastServed, jobs: [] });
  }
  for (const job of snapshot) {
    const queue = queues.get(job.agent);
    if (!queue) continue;
    if (occupiesAgentSlot(job)) queue.running += 1;
    else if (isDue(job, now)) queue.jobs.push(job);
  }
  const nonEmptyQueues = [...queues.values()].filter((queue) => queue.jobs.length > 0);
  for (const queue of nonEmptyQueues)
    queue.jobs.sort((a, b) => b.priority - a.priority || compareAge(a, b));
  return nonEmptyQueues;
}

/**
 * A job that waits without a due time waits for a person or another agent, so its runner is alive.
 * A job that is assigned to a node keeps its slot there before it starts.
 */
export function occupiesAgentSlot(
  job: Pick<Job, "status" | "due_at"> & Pick<UnfinishedJob, "assigned">,
): boolean {
  if (job.assigned != null) return true;
  return job.status === "running" || (job.status === "waiting" && job.due_at === null);
}

/**
 * A job that waits for another agent frees its slot in the fleet, but not the slot of its agent.
 */
export function occupiesFleetSlot(job: UnfinishedJob): boolean {
  return occupiesAgentSlot(job) && job.waits_for.length === 0;
}

function isDue(job: UnfinishedJob, now: Date): boolean {
  return job.due_at === null || Date.parse(job.due_at) <= now.getTime();
}

function freeFleetSlots(snapshot: readonly UnfinishedJob[], { fleet }: ClaimLimits): number {
  return (fleet ?? defaultFleetLimit) - snapshot.filter(occupiesFleetSlot).length;
}

function nextQueue(queues: readonly AgentQueue[]): AgentQueue | undefined {
  let best: AgentQueue | undefined;
  for (const queue of queues) {
    if (queue.jobs.length === 0 || queue.running >= queue.limit) continue;
    if (!best || comesBefore(queue, best)) best = queue;
  }
  return best;
}

function comesBefore(a: AgentQueue, b: AgentQueue): boolean {
  const [x, y] = [a.jobs[0], b.jobs[0]];
  if (!x || !y) return false;
  const order =
    y.priority - x.priority ||
    a.running - b.running ||
    a.lastServed - b.lastServed ||
    compareAge(x, y);
  return order < 0;
}

function compareAge(a: UnfinishedJob, b: UnfinishedJob): number {
  return a.created_at < b.created_at ? -1 : Number(a.created_at > b.created_at);
}
