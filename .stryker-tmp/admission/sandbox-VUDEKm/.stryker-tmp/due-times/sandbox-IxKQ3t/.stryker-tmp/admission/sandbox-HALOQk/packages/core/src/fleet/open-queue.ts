import type { ResolvedAgent } from "@herdctl/config";
import type { ClusterServices } from "../cluster/cluster-services.ts";
import { NodeCommandBus } from "../cluster/node-command-bus.ts";
import type { AssignmentRules } from "../cluster/plan-assignments.ts";
import { SharedQueue } from "../cluster/shared-queue.ts";
import { sessionRule } from "../jobs/attempts/session-plan.ts";
import { EmbeddedQueue } from "../jobs/dispatch/embedded-queue.ts";
import type { Queue } from "../jobs/dispatch/queue-interface.ts";
import type { JobServices } from "../jobs/services.ts";
import { sessionHomeKindOf } from "../runner/contract/run-order.ts";
import type { AffinityQuery } from "../store/model/assignment.ts";

interface QueueServices
  extends Pick<JobServices, "state" | "fleet" | "reportError" | "activeJobs"> {
  cluster: ClusterServices | undefined;
}

/** The queue for this state. `own` limits it to jobs that were triggered in this process. */
export function openQueue(
  { state, cluster, fleet, reportError, activeJobs }: QueueServices,
  own?: (jobId: string) => boolean,
): Queue {
  const isActive = (jobId: string) => activeJobs.isActive(jobId);
  const { shared } = state;
  if (!shared || !cluster)
    return new EmbeddedQueue({ jobs: state.jobs, isActive, isOwnJob: own ?? (() => true) });
  const { nodes } = cluster;
  const { connectionString } = shared;
  return new SharedQueue({
    jobs: state.jobs,
    commandBus: new NodeCommandBus({ connectionString, nodeId: nodes.id, reportError }),
    currentNode: () => nodes,
    knownNodes: () => nodes.nodes,
    canAssign: () => nodes.isConfigCurrent,
    rules: () => assignmentRules(fleet().agents),
    isOwnJob: own,
    isActive,
  });
}

function assignmentRules(
  agents: readonly ResolvedAgent[],
): Pick<AssignmentRules, "placementRules" | "latestSessionQuery"> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  return {
    placementRules: new Map(
      agents.map(({ name, runs_on: runsOn, when_node_gone: whenNodeGone }) => [
        name,
        { runsOn, whenNodeGone },
      ]),
    ),
    latestSessionQuery: ({ agent, schedule }) => latestOf(byName.get(agent), schedule),
  };
}

/** The session that a job resumes by default, as `prepareRun` will choose it. */
function latestOf(
  agent: ResolvedAgent | undefined,
  schedule: string | null,
): AffinityQuery["latestSession"] {
  if (!agent) return null;
  const { shouldResume, ownerSchedule } = sessionRule(agent, schedule);
  return shouldResume ? { sessionHome: sessionHomeKindOf(agent), ownerSchedule } : null;
}
