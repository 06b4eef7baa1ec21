import type { EventHub } from "../lib/event-hub.ts";
import type { StateManager } from "../store/state-manager.ts";
import { ClusterEvents } from "./cluster-events.ts";
import type { Membership } from "./membership.ts";
import { OutputShipper } from "./output-shipper.ts";

/** Additional services of a fleet process whose nodes share a store. */
export interface ClusterServices {
  /** This node, and its view of the others. */
  nodes: Membership;
  events: ClusterEvents;
  shipper: OutputShipper;
}

export interface ClusterServicesDeps {
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
