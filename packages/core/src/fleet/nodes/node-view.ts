import type { Node } from "../../state/node.ts";

/** A node as people look at it. */
export interface NodeView
  extends Pick<
    Node,
    | "id"
    | "name"
    | "role"
    | "labels"
    | "capacity"
    | "running"
    | "version"
    | "status"
    | "lead"
    | "joined_at"
    | "heartbeat_at"
    | "skew_ms"
  > {
  /** Since it was last heard of. */
  seconds_since_beat: number;
  /** Whether it has read the configuration that is in force; one that has not takes no new jobs. */
  config_in_force: boolean;
  /** The one that was asked. */
  here: boolean;
}

export function viewNodes(
  nodes: readonly Node[],
  {
    here,
    configPrint,
    now,
  }: { here: string | undefined; configPrint: string | undefined; now: Date },
): NodeView[] {
  return nodes.map(
    ({ config_print, address: _address, epoch: _epoch, knows: _knows, ...node }) => ({
      ...node,
      // The beat is told by the database's clock, which may be ahead of ours.
      seconds_since_beat: Math.max(0, (now.getTime() - Date.parse(node.heartbeat_at)) / 1000),
      config_in_force: config_print === configPrint,
      here: node.id === here,
    }),
  );
}
