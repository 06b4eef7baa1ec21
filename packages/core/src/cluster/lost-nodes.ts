import { outputSchemaOf } from "@herdctl/config";
import { type Attempt, type Job, type Node, UserError } from "@herdctl/protocol";
import { configDirOf } from "../claude/credential.ts";
import { sessionRule } from "../jobs/attempts/session-plan.ts";
import { nextStep, type SessionContext, settleRun } from "../jobs/attempts/settle-run.ts";
import type { JobServices } from "../jobs/services.ts";
import { reportFromReplicatedLog } from "../runner/recovery/report-from-replicated-log.ts";
import { lostAfterMs, maxSelfRenewalMs } from "../store/model/session-lease.ts";
import type { NodeStore, SharedStore } from "../store/sql/shared-store.ts";
import { mayStillBeRunning } from "./node-lease.ts";
import type { PeerStatus } from "./peer-server.ts";

interface LostNodesDeps {
  store: Pick<NodeStore, "markLost">;
  askPeer(node: Node): Promise<PeerStatus | undefined>;
  /** Settles what the node had started; resolves with true when nothing is left. */
  settle(node: Node): Promise<boolean>;
  reportError(message: string, cause?: unknown): void;
}

export interface UnresponsiveNodes {
  /** Nodes to declare lost. */
  silent: Node[];
  /** Silent nodes that may still be running, because no known peer could have told them to stop. */
  possiblyRunning: Node[];
  /** Nodes that are already lost. The node that declared them lost may have died since. */
  lost: Node[];
}

export function findUnresponsiveNodes({
  nodes,
  self,
  isLeader,
  knowsThisNode,
}: {
  nodes: readonly Node[];
  self: Pick<Node, "id" | "heartbeat_at">;
  isLeader: boolean;
  /** The other node knows this node as a peer, so it would ask it. */
  knowsThisNode(node: Node): boolean;
}): UnresponsiveNodes {
  // The own heartbeat has the current time of the database.
  const now = Date.parse(self.heartbeat_at);
  const others = nodes.filter(({ id }) => id !== self.id);
  const silentMs = ({ heartbeat_at }: Node) => now - Date.parse(heartbeat_at);
  const silent = others.filter((node) => node.status === "live" && silentMs(node) > lostAfterMs);
  const possiblyRunning = silent.filter(
    (node) =>
      silentMs(node) <= maxSelfRenewalMs &&
      !knowsThisNode(node) &&
      mayStillBeRunning(node, nodes, now),
  );
  return {
    silent: silent.filter((node) => !possiblyRunning.includes(node)),
    possiblyRunning,
    lost: isLeader ? others.filter(({ status }) => status === "lost") : [],
  };
}

/** Handles silent nodes, each epoch once: a settled node never returns with the same epoch. */
export class LostNodeHandler {
  private readonly handled = new Set<string>();
  private readonly warned = new Set<string>();

  constructor(private readonly deps: LostNodesDeps) {}

  async handle({ silent, possiblyRunning, lost }: UnresponsiveNodes): Promise<void> {
    for (const node of possiblyRunning) {
      this.warnOnce(node);
      // A node that answers now knows a peer that reaches the store, and stops.
      void this.deps.askPeer(node);
    }
    await Promise.all([
      ...silent.map((node) => this.handleOnce(node, () => this.declareLost(node))),
      ...lost.map((node) => this.handleOnce(node, () => this.deps.settle(node))),
    ]);
  }

  /**
   * A node that confirms that its lease is held continues, although the store has no recent
   * heartbeat.
   */
  private async declareLost(node: Node): Promise<boolean> {
    if ((await this.deps.askPeer(node))?.lives) return false;
    if (!(await this.deps.store.markLost(node.id, node.epoch))) return false;
    this.deps.reportError(
      `node ${node.name} is lost; its last heartbeat was at ${node.heartbeat_at}`,
    );
    return this.deps.settle(node);
  }

  private warnOnce({ id, epoch, name, heartbeat_at }: Node): void {
    const key = `${id}.${epoch}`;
    if (this.warned.has(key)) return;
    this.warned.add(key);
    const minutes = maxSelfRenewalMs / 60_000;
    this.deps.reportError(
      `node ${name} sent its last heartbeat at ${heartbeat_at} and knew no peer that could take over. It may still be running, so it counts as lost after ${minutes} minutes`,
    );
  }

  private async handleOnce({ id, epoch, name }: Node, work: () => Promise<boolean>): Promise<void> {
    const key = `${id}.${epoch}`;
    if (this.handled.has(key)) return;
    this.handled.add(key);
    try {
      if (!(await work())) this.handled.delete(key);
    } catch (error) {
      this.handled.delete(key);
      if (!(error instanceof UserError))
        this.deps.reportError(`Failed to settle jobs of node ${name}`, error);
    }
  }
}

/**
 * Settles the attempts of a lost node like those of a dead runner: from the copied part of the log,
 * or as interrupted. Jobs that the node had not started return to the queue, because their
 * assignment has an old epoch. This can be interrupted and repeated, also by two nodes, because an
 * attempt ends only once. Returns false if the node is back, which then recovers its jobs itself.
 */
export async function settleLostNode(
  services: JobServices,
  shared: Pick<SharedStore, "nodes" | "outputs">,
  lostNode: Pick<Node, "id" | "epoch">,
): Promise<boolean> {
  const { jobs } = services.state;
  for (const job of await jobs.listUnfinished()) {
    if (job.node !== lostNode.id) continue;
    const attempts = await jobs.listAttempts(job.id);
    const openAttempt = attempts.at(-1);
    if (!openAttempt || openAttempt.finished_at !== null) continue;
    // Checked after the attempt was read, so that an attempt that the node started since its return
    // is not settled.
    if (!(await isStillLost(shared, lostNode))) return false;
    await settleAttempt(services, shared, { job, attempt: openAttempt, attempts });
  }
  return true;
}

async function isStillLost(
  { nodes }: Pick<SharedStore, "nodes">,
  { id, epoch }: Pick<Node, "id" | "epoch">,
): Promise<boolean> {
  const node = (await nodes.list()).find((candidate) => candidate.id === id);
  return node?.status === "lost" && node.epoch === epoch;
}

interface LostAttempt {
  job: Job;
  attempt: Attempt;
  attempts: Attempt[];
}

async function settleAttempt(
  services: JobServices,
  { outputs }: Pick<SharedStore, "outputs">,
  { job, attempt, attempts }: LostAttempt,
): Promise<void> {
  const { state, hub, fleet } = services;
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  const now = new Date();
  const log = (await outputs.read(job.id, 0)).map(({ text }) => text).join("");
  const demandsReport = agent !== undefined && outputSchemaOf(agent, job.schedule) !== undefined;
  const { prices } = fleet();
  const report = reportFromReplicatedLog({ job, attempt, log, demandsReport, prices }, now);
  const { outcome, crashed } = report;
  const nextAction = agent
    ? nextStep({
        ...{ attempt: attempt.number, outcome, crashed, attempts },
        ...{ retry: agent.retry, now, random: Math.random() },
      })
    : { kind: "finish" as const, outcome };
  const holder = { ...(job.runner ?? unknownRunner), job_id: job.id, node: job.node };
  const settled = await settleRun(state, report, attemptedAtOf(services, job), holder, nextAction);
  hub.emit({ type: eventTypeOf(settled), job: settled });
  await services.onAttemptEnded(job.agent, outcome);
}

function eventTypeOf({ status }: Job): "job:completed" | "job:failed" | "job:waiting" {
  return status === "completed" || status === "failed" ? `job:${status}` : "job:waiting";
}

/** As far as it is known here; files of the lost node are not. */
function attemptedAtOf({ fleet, environment }: JobServices, job: Job): SessionContext {
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  return {
    agent: job.agent,
    place: job.session_home ?? "cli",
    cwd: agent?.working_directory.path ?? "",
    configDir: configDirOf(environment()),
    expiresAfterMs: agent?.session.expires ?? 24 * 3_600_000,
    ownerSchedule: agent ? sessionRule(agent, job.schedule).ownerSchedule : null,
    isChat: job.trigger_type === "chat",
    node: job.node,
  };
}

const unknownRunner = { pid: 0, start_time: "", boot_id: "" };
