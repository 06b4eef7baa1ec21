import type { Job, Node, UnfinishedJob } from "@herdctl/protocol";
import { type ClaimLimits, claim, occupiesFleetSlot } from "../jobs/dispatch/claim.ts";
import type {
  AffinityQuery,
  AssignmentDecision,
  AssignmentSnapshot,
  NewAssignment,
  WaitWarning,
} from "../store/model/assignment.ts";
import {
  type NodeLoad,
  type PlacementContext,
  type PlacementRules,
  placeJob,
} from "./place-job.ts";

export interface AssignmentRules extends ClaimLimits {
  /** Where jobs of an agent may run. */
  placementRules: ReadonlyMap<string, PlacementRules>;
  /** Which sessions to search for the one that a job resumes by default. */
  latestSessionQuery(job: UnfinishedJob): AffinityQuery["latestSession"];
}

/** Maximum number of affinity lookups per pass, because other writers wait meanwhile. */
const maxAffinityLookups = 500;

/**
 * Assigns jobs to nodes, by the limits of the fleet and the free slots of each node. Assignments
 * that were not started by an earlier process of a node, or by a node that is gone, return to the
 * queue. A job whose home node is not known yet is not placed: its home node is looked up first.
 */
export function planAssignments(
  { liveJobs, nodes, affinityNodes }: AssignmentSnapshot,
  rules: AssignmentRules,
  selfId: string,
  now: Date,
): AssignmentDecision {
  const giveBack = new Set(
    liveJobs.filter((job) => isAssignedButNotStarted(job) && !hasLiveAssignee(job, nodes)),
  );
  const snapshot = liveJobs.map((job) => (giveBack.has(job) ? { ...job, assigned: null } : job));
  const configHash = nodes.find(({ id }) => id === selfId)?.config_hash ?? "";
  const nodeLoads = nodes.map((node) => ({ node, busy: countBusy(snapshot, node) }));
  const plan = {
    assign: [] as NewAssignment[],
    waitWarnings: [] as WaitWarning[],
    affinityQueries: [] as AffinityQuery[],
  };
  claim(snapshot, rules, now, (job) => {
    const rule = rules.placementRules.get(job.agent);
    if (!rule) return false;
    const homeNode = affinityNodes.get(job.id);
    if (homeNode === undefined) {
      if (affinityNodes.size >= maxAffinityLookups) return false;
      plan.affinityQueries.push({ id: job.id, latestSession: rules.latestSessionQuery(job) });
      // Counts as started, so that no more are looked up than could start.
      return true;
    }
    return assignJob(job, homeNode, rule, { nodes: nodeLoads, selfId, configHash }, now, plan);
  });
  return { ...plan, unassign: [...giveBack].map(({ id }) => id) };
}

function assignJob(
  job: UnfinishedJob,
  homeNode: string | null,
  rule: PlacementRules,
  candidates: PlacementContext & { nodes: NodeLoad[] },
  now: Date,
  plan: { assign: NewAssignment[]; waitWarnings: WaitWarning[] },
): boolean {
  const placement = placeJob(homeNode, rule, candidates);
  if (placement.kind === "waits")
    plan.waitWarnings.push({ id: job.id, warning: placement.message });
  if (placement.kind !== "at") return false;
  const chosen = candidates.nodes.find(({ node }) => node === placement.node);
  if (chosen) chosen.busy += 1;
  const { id: node, epoch } = placement.node;
  const assignment = { node, epoch, at: now.toISOString() };
  const warnings = placement.movedFrom === undefined ? [] : [movedWarning(placement.movedFrom)];
  plan.assign.push({ id: job.id, assigned: assignment, warnings });
  return true;
}

/** Assigned to a node that has not started an attempt yet. */
export function isAssignedButNotStarted({
  assigned,
  status,
  due_at,
}: Pick<Job, "status" | "due_at"> & Pick<UnfinishedJob, "assigned">): boolean {
  if (assigned == null) return false;
  return status === "pending" || (status === "waiting" && due_at !== null);
}

function hasLiveAssignee({ assigned }: UnfinishedJob, nodes: readonly Node[]): boolean {
  const node = nodes.find(({ id }) => id === assigned?.node);
  return node?.status === "live" && node.epoch === assigned?.epoch;
}

function countBusy(snapshot: readonly UnfinishedJob[], { id }: Node): number {
  return snapshot.filter((job) => occupiesFleetSlot(job) && (job.assigned?.node ?? job.node) === id)
    .length;
}

function movedWarning(from: string): string {
  return `node ${from}, which ran the job before or has its session, is gone: the job moved to another node and starts a new session`;
}
