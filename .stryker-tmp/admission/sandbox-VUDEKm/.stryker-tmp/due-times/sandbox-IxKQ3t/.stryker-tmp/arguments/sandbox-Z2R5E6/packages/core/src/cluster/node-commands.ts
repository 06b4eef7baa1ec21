import { createHash, randomUUID } from "node:crypto";
import { assignmentSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";

/** A command from one node to another. */
export const nodeCommandSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("begin"), job: z.string(), assigned: assignmentSchema }),
  z.object({ kind: z.literal("cancel"), job: z.string(), force: z.boolean() }),
  z.object({ kind: z.literal("reload") }),
]);
export type NodeCommand = z.infer<typeof nodeCommandSchema>;

/**
 * The same for the same assignment, so that sending it again has no effect. A job that was
 * unassigned and assigned again has a new assignment.
 */
export function commandIdOf(command: NodeCommand): string {
  if (command.kind !== "begin") return randomUUID();
  const { node, epoch, at } = command.assigned;
  const digest = createHash("sha256")
    .update(JSON.stringify([command.job, node, epoch, at]))
    .digest("hex");
  return asUuid(digest);
}

/** Formatted as a version 8 UUID. */
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

export function commandQueueName(nodeId: string): string {
  return `orders-${nodeId}`;
}

/** Receives commands that could not be handled. */
export const deadLetterQueueName = "orders-dead";
