import { defaultFleetLimit } from "../jobs/dispatch/claim.ts";
import type { EventHub } from "../lib/event-hub.ts";
import type { FleetProblems } from "../lib/fleet-problems.ts";
import type { StateManager } from "../store/state-manager.ts";
import { ClusterEvents } from "./cluster-events.ts";
import { Membership, type MembershipDeps } from "./membership.ts";
import type { NodeOptions } from "./node-identity.ts";
import { OutputShipper } from "./output-shipper.ts";

/** Additional services of a fleet process whose nodes share a store. */
export interface ClusterServices {
  /** This node, and its view of the others. */
  nodes: Membership;
  events: ClusterEvents;
  shipper: OutputShipper;
}

interface ClusterServicesDeps {
  state: StateManager;
  hub: EventHub;
  reportError(message: string, cause?: unknown): void;
}

/**
 * The services of a node that has joined; undefined if the state is not shared. Nothing is received
 * yet.
 */
export function createClusterServices(
  { state, hub, reportError }: ClusterServicesDeps,
  nodes: Membership | undefined,
): ClusterServices | undefined {
  const { shared } = state;
  if (!shared || !nodes) return undefined;
  const events = new ClusterEvents({
    shared,
    state,
    hub,
    nodeId: nodes.id,
    onNodeJoined: () => nodes.heartbeat(),
    reportError,
  });
  const notifyOutput = (jobId: string) => events.notifyOutput(jobId);
  const { outputs, files } = shared;
  return {
    nodes,
    events,
    shipper: new OutputShipper({ outputs, files, onShipped: notifyOutput, reportError }),
  };
}

interface JoinClusterOptions extends Pick<MembershipDeps, "loaded" | "version"> {
  reportError: MembershipDeps["reportError"];
  node: NodeOptions;
  problems: FleetProblems;
  /** The process starts only jobs that are triggered in it. */
  ownJobsOnly: boolean;
}

/** Joins the cluster; undefined if the state is not shared. */
export async function joinCluster(
  options: JoinClusterOptions,
  { stateDir, shared }: Pick<StateManager, "stateDir" | "shared">,
): Promise<Membership | undefined> {
  if (!shared) return undefined;
  const { loaded, version, problems, ownJobsOnly, reportError } = options;
  // As a control node it gets no jobs from others, but it can still run its own.
  const node = ownJobsOnly ? { ...options.node, role: "control" as const } : options.node;
  const capacity = node.capacity ?? loaded().fleet.fleet.max_concurrent ?? defaultFleetLimit;
  const membership = new Membership({
    ...{ shared, stateDir, version, loaded, reportError },
    node: { ...node, capacity },
    onStoreReachable: () => problems.set("state", undefined),
    onProblem: (message) => problems.set("node", message),
  });
  await membership.join();
  return membership;
}
