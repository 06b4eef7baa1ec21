import type { AgentSource } from "../read-sources.ts";
import type { HostTools } from "../resolve-agent.ts";
import { agentSchema } from "../schema/agent.ts";
import { type Tree, toValue, treeAt } from "../yaml/tree.ts";
import { mergeLayers } from "./config-layers.ts";

const { permission_mode, allowed_tools, runtime } = agentSchema.shape;

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

/**
 * An agent file that runs in a container by itself gives up rights, so it may use the login as on the
 * host. In a container of the fleet file, it may only if the fleet file chose the CLI.
 */
export function mustWithholdLogin({ layers, isInDocker }: AgentSource): boolean {
  const trusted = layers.filter(({ grants }) => grants.length === 0);
  if (!isInDocker || trusted.length === layers.length) return false;
  const trustedTree = mergeLayers(trusted);
  const isBoxed = toBoolean(treeAt(trustedTree, ["docker", "enabled"]));
  const chosen = runtime.safeParse(valueAt(trustedTree, "runtime"));
  const isCli = chosen.success && chosen.data.type === "cli";
  return isBoxed && !isCli;
}

/** Anything but a plain `false` or a missing value counts as set. */
function toBoolean(tree: Tree | undefined): boolean {
  return tree !== undefined && toValue(tree) !== false;
}

function valueAt(trustedTree: Tree | undefined, key: string): unknown {
  const found = treeAt(trustedTree, [key]);
  return found && toValue(found);
}
