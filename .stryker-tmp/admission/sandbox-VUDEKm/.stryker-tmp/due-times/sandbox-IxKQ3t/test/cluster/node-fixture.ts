import type { Node } from "../../packages/protocol/src/records/node.ts";
import { noon } from "../jobs/job-fixture.ts";

/** A live node; its name is its id in capitals. */
export function testNode(id: string, change: Partial<Node> = {}): Node {
  return {
    id,
    name: id.toUpperCase(),
    role: "all",
    labels: [],
    capacity: 4,
    version: "0.0.0",
    config_hash: "print",
    address: null,
    epoch: 1,
    status: "live",
    joined_at: noon.toISOString(),
    heartbeat_at: noon.toISOString(),
    running: 0,
    clock_skew_ms: null,
    known_peers: [],
    leader: false,
    ...change,
  };
}
