import { at, type Tree, toValue } from "../../document/tree.ts";
import type { HostTools } from "../resolve.ts";
import { agentSchema } from "../schema/agent.ts";
import type { AgentSource } from "../sources.ts";
import { mergeLayers } from "./layers.ts";

const { permission_mode, allowed_tools } = agentSchema.shape;

/**
 * In its container an agent may use all tools without asking, by a word of its own file. What an
 * MCP server on the host may be called for is not the file's to say.
 */
export function hostToolsOf({ layers, runsInDocker }: AgentSource): HostTools | undefined {
  const trusted = layers.filter(({ grants }) => grants.length === 0);
  if (!runsInDocker || trusted.length === layers.length) return undefined;
  const said = mergeLayers(trusted);
  const mode = permission_mode.safeParse(valueAt(said, "permission_mode"));
  const tools = allowed_tools.safeParse(valueAt(said, "allowed_tools"));
  return {
    permission_mode: mode.success ? mode.data : "default",
    allowed_tools: tools.success ? tools.data : [],
  };
}

function valueAt(said: Tree | undefined, key: string): unknown {
  const found = at(said, [key]);
  return found && toValue(found);
}
