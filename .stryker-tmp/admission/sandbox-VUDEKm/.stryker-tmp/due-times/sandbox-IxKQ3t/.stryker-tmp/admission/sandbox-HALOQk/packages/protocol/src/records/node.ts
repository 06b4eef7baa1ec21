import { z } from "zod";
import { nodeRoles } from "./node-roles.ts";

export const nodeRoleSchema = z.enum(nodeRoles);
export type NodeRole = z.infer<typeof nodeRoleSchema>;

const time = z.iso.datetime();

/** A machine, or more precisely a state folder, that runs a fleet with a shared store. */
export const nodeSchema = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  /** `control` runs no jobs, `worker` only runs jobs. */
  role: nodeRoleSchema,
  labels: z.array(z.string()),
  /** Maximum number of concurrent jobs. */
  capacity: z.number().int().nonnegative(),
  version: z.string(),
  /** Hash of the node's configuration. */
  config_hash: z.string(),
  /** Address for requests of peers. */
  address: z.string().nullable(),
  /** Increases with every join. Writes with an older epoch are refused. */
  epoch: z.number().int().positive(),
  status: z.enum(["live", "left", "lost"]),
  joined_at: time,
  /** By the clock of the database. */
  heartbeat_at: time,
  running: z.number().int().nonnegative(),
  /** Time by which its clock is ahead of the database's. */
  clock_skew_ms: z.number().nullable(),
  /** The peers (by `peerName`) that it asks when it cannot reach the store. */
  known_peers: z.array(z.string()),
  /** The node runs the leader-only services. */
  leader: z.boolean(),
});
export type Node = z.infer<typeof nodeSchema>;

export type NewNode = Omit<
  Node,
  | "epoch"
  | "status"
  | "joined_at"
  | "heartbeat_at"
  | "running"
  | "clock_skew_ms"
  | "known_peers"
  | "leader"
>;

/** Identifies one process of a node, which gets a new address with every start. */
export function peerName({ id, address }: Pick<Node, "id" | "address">): string {
  return `${id} ${address}`;
}
