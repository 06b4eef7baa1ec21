import type { AgentSource } from "../read-sources.ts";
import type { HostTools } from "../resolve-agent.ts";
import { agentSchema } from "../schema/agent.ts";
import { type Tree, toValue, treeAt } from "../yaml/tree.ts";
import { mergeLayers } from "./config-layers.ts";

const { permission_mode, allowed_tools } = agentSchema.shape;

/**
 * A limited file may allow any tool inside its container. Rules for MCP servers on the host come
 * from trusted layers only.
 */
export function resolveHostTools({ layers, isInDocker }: AgentSource): HostTools | undefined {
  const trusted = layers.filter(({ grants }) => grants.length === 0);
  if (!isInDocker || trusted.length === layers.length) return undefined;
  const trustedTree = mergeLayers(trusted);
  const mode = permission_mode.safeParse(valueAt(trustedTree, "permission_mode"));
  const tools = allowed_tools.safeParse(valueAt(trustedTree, "allowed_tools"));
  return {
    permission_mode: mode.success ? mode.data : "default",
    allowed_tools: tools.success ? tools.data : [],
  };
}

function valueAt(trustedTree: Tree | undefined, key: string): unknown {
  const found = treeAt(trustedTree, [key]);
  return found && toValue(found);
}
