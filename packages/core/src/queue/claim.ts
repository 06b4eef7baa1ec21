import type { Job, LiveJob } from "../state/job.ts";

/** For a fleet that names no `max_concurrent`: each run is a process of a few hundred megabytes. */
export const defaultFleetLimit = 10;

export interface ClaimLimits {
  /** `max_concurrent` of the fleet. */
  fleet: number | undefined;
  /** `max_concurrent` by agent. Jobs of an agent that is not here stay where they are. */
  agents: ReadonlyMap<string, number>;
  paused: ReadonlySet<string>;
  /** When each agent last got a job started, in any positive number that grows; absent means never. */
  servedAt: ReadonlyMap<string, number>;
  /** Nothing starts before this, whoever wants to. */
  notBefore?: Date;
}

/**
 * Which jobs to start now, in this order. Priority comes first; then the agent with the fewest
 * running, the one served least recently, and the oldest job. The snapshot stands in order of age.
 */
export function claim(
  snapshot: readonly LiveJob[],
  limits: ClaimLimits,
  now: Date,
  /** Whether there is a place for it; one for which there is none keeps nobody else back. */
  fits: (job: LiveJob) => boolean = () => true,
): string[] {
  if (limits.notBefore && now < limits.notBefore) return [];
  const queues = queuesOf(snapshot, limits, now);
  const claimed: string[] = [];
  let turn = Math.max(never, ...limits.servedAt.values());
  for (let room = roomInFleet(snapshot, limits); room > 0; ) {
    const next = first(queues);
    const job = next?.jobs.shift();
    if (!next || !job) break;
    if (!fits(job)) continue;
    claimed.push(job.id);
    room -= 1;
    next.running += 1;
    next.served = ++turn;
  }
  return claimed;
}

/** When something may be claimed that may not be now; undefined if only an event can bring that. */
export function nextDue(
  snapshot: readonly LiveJob[],
  { notBefore }: Pick<ClaimLimits, "notBefore">,
  now: Date,
): Date | undefined {
  const wanting = snapshot.filter((job) => !isBusy(job));
  const earliest = notBefore?.getTime() ?? 0;
  const times = wanting
    .map((job) => Math.max(earliest, job.due_at === null ? 0 : Date.parse(job.due_at)))
    .filter((time) => time > now.getTime());
  return times.length === 0 ? undefined : new Date(times.reduce((a, b) => Math.min(a, b)));
}

const never = 0;

/** The jobs of one agent that may start, the next one first. */
interface AgentQueue {
  limit: number;
  running: number;
  served: number;
  jobs: LiveJob[];
}

function queuesOf(snapshot: readonly LiveJob[], limits: ClaimLimits, now: Date): AgentQueue[] {
  const queues = new Map<string, AgentQueue>();
  for (const [agent, limit] of limits.agents) {
    if (limits.paused.has(agent)) continue;
    const served = limits.servedAt.get(agent) ?? never;
    queues.set(agent, { limit, running: 0, served, jobs: [] });
  }
  for (const job of snapshot) {
    const queue = queues.get(job.agent);
    if (!queue) continue;
    if (isBusy(job)) queue.running += 1;
    else if (isDue(job, now)) queue.jobs.push(job);
  }
  const wanting = [...queues.values()].filter((queue) => queue.jobs.length > 0);
  for (const queue of wanting) queue.jobs.sort((a, b) => b.priority - a.priority || byAge(a, b));
  return wanting;
}

/**
 * A job that waits, but for no time, waits for a person or another agent: its runner lives. One that
 * a node was given has its place there, though it is still to begin.
 */
export function isBusy(job: Pick<Job, "status" | "due_at"> & Pick<LiveJob, "assigned">): boolean {
  if (job.assigned != null) return true;
  return job.status === "running" || (job.status === "waiting" && job.due_at === null);
}

/** One that waits for another agent leaves its place in the fleet to it, but not its agent's own. */
export function isAtWork(job: LiveJob): boolean {
  return isBusy(job) && job.waits_for.length === 0;
}

function isDue(job: LiveJob, now: Date): boolean {
  return job.due_at === null || Date.parse(job.due_at) <= now.getTime();
}

function roomInFleet(snapshot: readonly LiveJob[], { fleet }: ClaimLimits): number {
  return (fleet ?? defaultFleetLimit) - snapshot.filter(isAtWork).length;
}

function first(queues: readonly AgentQueue[]): AgentQueue | undefined {
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
    y.priority - x.priority || a.running - b.running || a.served - b.served || byAge(x, y);
  return order < 0;
}

function byAge(a: LiveJob, b: LiveJob): number {
  return a.created_at < b.created_at ? -1 : Number(a.created_at > b.created_at);
}
