import type { ResolvedAgent } from "@herdctl/config";

export type ToolRules = Pick<ResolvedAgent, "permission_mode" | "allowed_tools" | "denied_tools">;

/** Whether an agent may use a tool, at least for some inputs, without asking a person. */
export function canUseTool(rules: ToolRules, tool: string): boolean {
  if (rules.denied_tools.includes(tool)) return false;
  if (rules.permission_mode === "bypassPermissions") return true;
  return rules.allowed_tools.some((rule) => rule === "*" || toolNameOf(rule) === tool);
}

/** Whether an agent may use a tool of this MCP server, or read its resources. */
export function canUseMcpServer(rules: ToolRules, server: string): boolean {
  if (canReadMcpResources(rules, server)) return true;
  if (isWholeServerListed(rules.denied_tools, server)) return false;
  if (rules.permission_mode === "bypassPermissions") return true;
  const serverPrefix = `mcp__${server}`;
  return rules.allowed_tools.some(
    (rule) => rule === "*" || rule === serverPrefix || rule.startsWith(`${serverPrefix}__`),
  );
}

/** A rule for the whole server also allows reading its resources. */
export function canReadMcpResources(rules: ToolRules, server: string): boolean {
  const { allowed_tools, denied_tools } = rules;
  if (isWholeServerListed(denied_tools, server) || denied_tools.includes(resourceTool))
    return false;
  return canUseTool(rules, resourceTool) || isWholeServerListed(allowed_tools, server);
}

const resourceTool = "ReadMcpResourceTool";

function isWholeServerListed(rules: readonly string[], server: string): boolean {
  const serverPrefix = `mcp__${server}`;
  return rules.includes(serverPrefix) || rules.includes(`${serverPrefix}__*`);
}

/** Whether an agent may read every file of its user, without a path pattern in its rules. */
export function canReadAllFiles(rules: ToolRules): boolean {
  if (canUseTool(rules, "Bash")) return true;
  const readers = ["Read", "Grep"].filter((tool) => !rules.denied_tools.includes(tool));
  if (rules.permission_mode === "bypassPermissions") return readers.length > 0;
  return readers.some((tool) => rules.allowed_tools.includes(tool));
}

/** `Bash(git *)` is a rule of `Bash`. */
function toolNameOf(rule: string): string {
  return rule.replace(/\(.*$/s, "");
}
