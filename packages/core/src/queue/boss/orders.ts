import { createHash, randomUUID } from "node:crypto";
import { z } from "zod";
import { assignmentSchema } from "../../state/job.ts";

/** What one node tells another to do. */
export const nodeOrderSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("begin"), job: z.string(), assigned: assignmentSchema }),
  z.object({ kind: z.literal("cancel"), job: z.string(), force: z.boolean() }),
  z.object({ kind: z.literal("reload") }),
]);
export type NodeOrder = z.infer<typeof nodeOrderSchema>;

/**
 * The same for the same assignment, so that sending it again, by whomever, is nothing new. A job
 * that was given back and handed out anew is another assignment.
 */
export function orderIdOf(order: NodeOrder): string {
  if (order.kind !== "begin") return randomUUID();
  const { node, epoch, at } = order.assigned;
  const digest = createHash("sha256")
    .update(JSON.stringify([order.job, node, epoch, at]))
    .digest("hex");
  return asUuid(digest);
}

/** In the form of a version 8 uuid, whose bits mean nothing. */
function asUuid(hex: string): string {
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
}

export function ordersOf(nodeId: string): string {
  return `orders-${nodeId}`;
}

/** Where orders end that could not be carried out. */
export const deadOrders = "orders-dead";
