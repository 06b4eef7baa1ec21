import { defaultFleetLimit } from "../../queue/claim.ts";
import type { StateManager } from "../../state/state-manager.ts";
import type { Problems } from "../problems.ts";
import { Membership, type MembershipFrame } from "./membership.ts";
import type { NodeOptions } from "./node-options.ts";

interface JoinFrame extends Pick<MembershipFrame, "loaded" | "version" | "trouble"> {
  node: NodeOptions;
  problems: Problems;
  /** It starts nothing but what is triggered here. */
  onlyOwn: boolean;
}

/** This process as a node of its fleet; undefined where it has the state for itself. */
export async function joinFleet(
  frame: JoinFrame,
  { stateDir, shared }: Pick<StateManager, "stateDir" | "shared">,
): Promise<Membership | undefined> {
  if (!shared) return undefined;
  const { loaded, version, problems, onlyOwn, trouble } = frame;
  // Nobody else gives it jobs then; its own it takes all the same.
  const node = onlyOwn ? { ...frame.node, role: "control" as const } : frame.node;
  const capacity = node.capacity ?? loaded().fleet.fleet.max_concurrent ?? defaultFleetLimit;
  const nodes = new Membership({
    ...{ shared, stateDir, version, loaded, trouble },
    node: { ...node, capacity },
    reached: () => problems.set("state", undefined),
    problem: (message) => problems.set("node", message),
  });
  await nodes.join();
  return nodes;
}
