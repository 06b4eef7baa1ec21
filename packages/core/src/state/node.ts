import { z } from "zod";
import { nodeRoles } from "./node-roles.ts";

export const nodeRoleSchema = z.enum(nodeRoles);
export type NodeRole = z.infer<typeof nodeRoleSchema>;

const time = z.iso.datetime();

/** A machine, or a state directory on one, that takes part in a fleet on a shared store. */
export const nodeSchema = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  /** `control` runs no jobs, `worker` does nothing for the fleet as a whole. */
  role: nodeRoleSchema,
  labels: z.array(z.string()),
  /** How many jobs it runs at once. */
  capacity: z.number().int().nonnegative(),
  version: z.string(),
  /** Of the configuration that it has read. */
  config_print: z.string(),
  /** Where its peers reach it. */
  address: z.string().nullable(),
  /** Grows with every join: what an earlier process of the node still writes is refused. */
  epoch: z.number().int().positive(),
  status: z.enum(["live", "left", "lost"]),
  joined_at: time,
  /** By the clock of the database. */
  heartbeat_at: time,
  running: z.number().int().nonnegative(),
  /** How far its clock is ahead of the database's. */
  skew_ms: z.number().nullable(),
  /** The peers whom it asks when it does not reach the store, as `peerName` calls them. */
  knows: z.array(z.string()),
  /** It does what only one may do. */
  lead: z.boolean(),
});
export type Node = z.infer<typeof nodeSchema>;

export type NewNode = Omit<
  Node,
  "epoch" | "status" | "joined_at" | "heartbeat_at" | "running" | "skew_ms" | "knows" | "lead"
>;

/** A node's process, which has another door when it is started again. */
export function peerName({ id, address }: Pick<Node, "id" | "address">): string {
  return `${id} ${address}`;
}
