import type { ResolvedAgent } from "../../config/resolve.ts";

export type ToolRules = Pick<ResolvedAgent, "permission_mode" | "allowed_tools" | "denied_tools">;

/** Whether an agent may use a tool, or a part of what it does, without anybody being asked. */
export function mayUse(rules: ToolRules, tool: string): boolean {
  if (rules.denied_tools.includes(tool)) return false;
  if (rules.permission_mode === "bypassPermissions") return true;
  return rules.allowed_tools.some((one) => one === "*" || toolOf(one) === tool);
}

/** Whether it may use a tool of this MCP server, or read its resources. */
export function mayUseServer(rules: ToolRules, server: string): boolean {
  if (mayReadResources(rules, server)) return true;
  if (isWholeServerNamed(rules.denied_tools, server)) return false;
  if (rules.permission_mode === "bypassPermissions") return true;
  const whole = `mcp__${server}`;
  return rules.allowed_tools.some(
    (one) => one === "*" || one === whole || one.startsWith(`${whole}__`),
  );
}

/** A rule for the whole server also opens its resources. */
export function mayReadResources(rules: ToolRules, server: string): boolean {
  const { allowed_tools, denied_tools } = rules;
  if (isWholeServerNamed(denied_tools, server) || denied_tools.includes(resourceTool)) return false;
  return mayUse(rules, resourceTool) || isWholeServerNamed(allowed_tools, server);
}

const resourceTool = "ReadMcpResourceTool";

function isWholeServerNamed(rules: readonly string[], server: string): boolean {
  const whole = `mcp__${server}`;
  return rules.includes(whole) || rules.includes(`${whole}__*`);
}

/** Whether it may read any file that its user may: by the tool itself, not by a pattern of paths. */
export function mayReadAll(rules: ToolRules): boolean {
  if (mayUse(rules, "Bash")) return true;
  const readers = ["Read", "Grep"].filter((tool) => !rules.denied_tools.includes(tool));
  if (rules.permission_mode === "bypassPermissions") return readers.length > 0;
  return readers.some((tool) => rules.allowed_tools.includes(tool));
}

/** `Bash(git *)` is a rule of `Bash`. */
function toolOf(rule: string): string {
  return rule.replace(/\(.*$/s, "");
}
