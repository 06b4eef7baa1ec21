import type { Node } from "../records/node.ts";

/** A node as shown to users. */
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
    | "leader"
    | "joined_at"
    | "heartbeat_at"
    | "clock_skew_ms"
  > {
  seconds_since_heartbeat: number;
  /** Whether the node has the current configuration. Other nodes get no new jobs. */
  config_current: boolean;
  /** The node that served the request. */
  self: boolean;
}
