import { setTimeout as delay } from "node:timers/promises";
import type { NodeLifecycleHandlers } from "../cluster/node-lifecycle-handlers.ts";
import { removeMovedRuns } from "../cluster/remove-moved-runs.ts";
import { settleLostNode } from "../cluster/settle-lost-node.ts";
import { recover } from "../jobs/attempts/recovery.ts";
import type { NodeCommandHandlers } from "../jobs/dispatch/queue-interface.ts";
import type { SharedStore } from "../store/contracts/shared-store.ts";
import type { Leadership } from "./leader-services.ts";
import type { FleetServices } from "./services.ts";

const pollIntervalMs = 25;

export interface NodeLifecycleHandlersDeps {
  services: FleetServices;
  shared: SharedStore;
  leadership: Leadership;
  /** False once the fleet stops. */
  acceptsWork(): boolean;
  replan(): Promise<void>;
}

/** Handlers by which cluster membership controls the fleet process. */
export function createNodeLifecycleHandlers(
  deps: NodeLifecycleHandlersDeps,
): NodeLifecycleHandlers {
  const { services, shared, leadership } = deps;
  const { dispatcher, activeJobs } = services;
  const startDispatcher = () => {
    if (deps.acceptsWork()) dispatcher.start();
  };
  return {
    countRunningJobs: () => activeJobs.size,
    suspend: async () => {
      dispatcher.halt();
      await leadership.setLeader(false);
    },
    resume: startDispatcher,
    dropRuns: async () => {
      const dropped = [...activeJobs.values()];
      await Promise.all(dropped.map((job) => job.abandon()));
      // `recover` skips jobs that are still active.
      while (dropped.some((job) => activeJobs.get(job.id) === job)) await delay(pollIntervalMs);
    },
    onRejoined: async () => {
      await recover(services, dispatcher);
      await removeMovedRuns(services.state, services.nodeId ?? "");
      startDispatcher();
    },
    settleLostNode: async (node) => {
      const isSettled = await settleLostNode(services, shared, node);
      dispatcher.wake();
      return isSettled;
    },
    onLeadershipChanged: (isLeader) => leadership.setLeader(isLeader),
    onConfigJudged: () => deps.replan(),
  };
}

/** Connects this process to the other nodes. Does nothing without a cluster. */
export async function connectToCluster(
  services: FleetServices,
  reload: NodeCommandHandlers["reload"],
): Promise<void> {
  const { queue, dispatcher, hub, cluster, backoff } = services;
  await queue.start({
    begin: (jobId) => dispatcher.begin(jobId),
    cancel: async (jobId, force) => cancelLocalJob(services, jobId, force),
    reload,
  });
  if (!cluster) return;
  // An overloaded API pauses all nodes, whichever of them noticed it.
  for (const type of ["job:waiting", "job:completed", "job:failed"] as const)
    hub.on(type, ({ job }) => void (job.outcome && backoff.onOutcome(job.outcome.code)));
  cluster.events.onSchedulesChanged(() => void readAgentSchedules(services));
  await cluster.events.start();
}

export async function disconnectFromCluster({ queue, cluster }: FleetServices): Promise<void> {
  await queue.stop();
  await cluster?.events.stop();
}

/** A job that is being started cannot be stopped yet, so the command must be repeated. */
function cancelLocalJob({ activeJobs }: FleetServices, jobId: string, force: boolean): void {
  const activeJob = activeJobs.get(jobId);
  if (!activeJob && activeJobs.isActive(jobId)) throw new Error(`${jobId} is still being started`);
  activeJob?.stop("cancelled", force);
}

async function readAgentSchedules({
  agentSchedules,
  clock,
  reportError,
}: FleetServices): Promise<void> {
  try {
    await agentSchedules.reload();
    await clock?.replan();
  } catch (error) {
    reportError("Failed to read schedules that agents changed on another node", error);
  }
}
