import type { Options } from "@anthropic-ai/claude-agent-sdk";
import type { ResolvedAgent } from "@herdctl/config";

type AgentDefinitions = NonNullable<Options["agents"]>;

/** Subagents in the form of the Agent SDK; undefined if there are none. */
export function toAgentDefinitions(
  subagents: ResolvedAgent["subagents"],
): AgentDefinitions | undefined {
  const entries = Object.entries(subagents);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(
    entries.map(([name, subagent]) => {
      const { denied_tools, max_turns, mcp_servers, permission_mode, initial_prompt, ...same } =
        subagent;
      return [
        name,
        {
          ...same,
          disallowedTools: denied_tools,
          maxTurns: max_turns,
          mcpServers: mcp_servers,
          permissionMode: permission_mode,
          initialPrompt: initial_prompt,
        },
      ];
    }),
  );
}
