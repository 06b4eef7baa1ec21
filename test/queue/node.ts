import type { Node } from "../../packages/core/src/state/node.ts";
import { noon } from "./live-job.ts";

/** A live node; its name is its id in capitals. */
export function node(id: string, change: Partial<Node> = {}): Node {
  return {
    id,
    name: id.toUpperCase(),
    role: "all",
    labels: [],
    capacity: 4,
    version: "0.0.0",
    config_print: "print",
    address: null,
    epoch: 1,
    status: "live",
    joined_at: noon.toISOString(),
    heartbeat_at: noon.toISOString(),
    running: 0,
    skew_ms: null,
    knows: [],
    lead: false,
    ...change,
  };
}
