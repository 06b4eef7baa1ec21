import type { AgentConfig } from "./schema/agent.ts";

type ToolLists = Pick<AgentConfig, "mcp_servers" | "allowed_tools" | "denied_tools">;

/** The tool lists of an agent with the rules that `tool_policy` of its MCP servers adds. */
export function withToolPolicies(
  agent: ToolLists,
): Pick<AgentConfig, "allowed_tools" | "denied_tools"> {
  const { allowed_tools, denied_tools } = agent;
  return {
    allowed_tools: [...new Set([...allowed_tools, ...toolsWithPolicy(agent, "allow")])],
    denied_tools: [...new Set([...denied_tools, ...toolsWithPolicy(agent, "deny")])],
  };
}

/** The full names of the tools with a policy. */
export function toolsWithPolicy(
  { mcp_servers }: Pick<AgentConfig, "mcp_servers">,
  policy: "allow" | "ask" | "deny",
): string[] {
  return Object.entries(mcp_servers).flatMap(([server, { tool_policy = {} }]) =>
    Object.entries(tool_policy).flatMap(([tool, one]) =>
      one === policy ? [`mcp__${server}__${tool}`] : [],
    ),
  );
}
