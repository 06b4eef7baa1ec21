import type { Node } from "../../state/node.ts";

/**
 * How another node is called, and whether it is gone: also one that nobody knows any more. Before
 * the first beat nobody is known, and so nobody is gone.
 */
export function findNode(
  nodes: readonly Pick<Node, "id" | "name" | "status">[],
  id: string,
): { name: string; isGone: boolean } {
  const node = nodes.find((one) => one.id === id);
  return { name: node?.name ?? id, isGone: nodes.length > 0 && node?.status !== "live" };
}
