import type { Job, Node, UnfinishedJob } from "@herdctl/protocol";
import { type ClaimLimits, claim, occupiesFleetSlot } from "../jobs/dispatch/claim.ts";
import type {
  AffinityQuery,
  AssignmentDecision,
  AssignmentSnapshot,
  NewAssignment,
  WaitWarning,
} from "../store/model/assignment.ts";

export interface AssignmentRules extends ClaimLimits {
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

export interface PlacementRules {
  /** Labels that a node must have. */
  runsOn: readonly string[];
  /** How to handle a job whose home node is gone. */
  whenNodeGone: "wait" | "move";
}

/** A node and the number of jobs that run on it, or are about to. */
export interface NodeLoad {
  node: Node;
  busy: number;
}

/** The node that a job is bound to, because its session or last attempt is there. */
type AffinityNode = string | null;

export type Placement =
  /** `movedFrom`: the former home node of the job. */
  | { kind: "at"; node: Node; movedFrom?: string }
  /** All suitable nodes are at their limit, or have a different configuration at the moment. */
  | { kind: "full" }
  /** Only a node that is not available could run it. */
  | { kind: "waits"; message: string };

interface PlacementContext {
  /** All nodes, including those that are gone. */
  nodes: readonly NodeLoad[];
  /** The node that decides. */
  selfId: string;
  /** Hash of the configuration by which it decides. */
  configHash: string;
}

/**
 * Chooses the node of a job. A live home node is the only choice, because the session is on its
 * disk. Otherwise this node comes first, then the node with the largest share of free slots.
 */
export function placeJob(
  affinityNode: AffinityNode,
  rules: PlacementRules,
  context: PlacementContext,
): Placement {
  const affinityLoad =
    affinityNode === null ? undefined : context.nodes.find(({ node }) => node.id === affinityNode);
  const isHomeLive = affinityLoad !== undefined && canRunJob(affinityLoad.node, rules);
  if (isHomeLive) return pickLeastLoaded([affinityLoad], context);
  if (affinityNode !== null && rules.whenNodeGone === "wait")
    return {
      kind: "waits",
      message: waitingForHomeMessage(affinityLoad?.node.name ?? affinityNode),
    };
  const eligible = context.nodes.filter(({ node }) => canRunJob(node, rules));
  if (eligible.length === 0) return { kind: "waits", message: waitingForLabelsMessage(rules) };
  const best = pickLeastLoaded(eligible, context);
  return best.kind === "at" && affinityNode !== null
    ? { ...best, movedFrom: affinityLoad?.node.name ?? affinityNode }
    : best;
}

/** Whether the node is suitable, regardless of free slots. */
function canRunJob({ status, role, labels }: Node, { runsOn }: PlacementRules): boolean {
  return status === "live" && role !== "control" && runsOn.every((label) => labels.includes(label));
}

function pickLeastLoaded(
  eligible: readonly NodeLoad[],
  { selfId, configHash }: PlacementContext,
): Placement {
  const free = eligible.filter(
    ({ node, busy }) => node.config_hash === configHash && busy < node.capacity,
  );
  const best = free.find(({ node }) => node.id === selfId) ?? [...free].sort(compareLoad)[0];
  return best ? { kind: "at", node: best.node } : { kind: "full" };
}

function compareLoad(a: NodeLoad, b: NodeLoad): number {
  return loadRatio(a) - loadRatio(b) || (a.node.id < b.node.id ? -1 : 1);
}

function loadRatio({ node, busy }: NodeLoad): number {
  return busy / node.capacity;
}

function waitingForHomeMessage(name: string): string {
  return `waits for node ${name}, which has its session and is not available (\`when_node_gone: wait\`)`;
}

function waitingForLabelsMessage({ runsOn }: PlacementRules): string {
  return runsOn.length === 0
    ? "waits for a node that runs jobs; none is available"
    : `waits for a node with the labels ${runsOn.join(", ")}; none is available`;
}
