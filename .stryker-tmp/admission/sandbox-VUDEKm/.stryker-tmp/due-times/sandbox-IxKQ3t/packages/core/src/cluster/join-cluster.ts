import { defaultFleetLimit } from "../jobs/dispatch/claim.ts";
import type { FleetProblems } from "../lib/fleet-problems.ts";
import type { StateManager } from "../store/state-manager.ts";
import { Membership, type MembershipDeps } from "./membership.ts";
import type { NodeOptions } from "./node-options.ts";

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
