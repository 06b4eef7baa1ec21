import type { ResolvedAgent } from "../../config/resolve.ts";

export type ToolRules = Pick<ResolvedAgent, "permission_mode" | "allowed_tools" | "denied_tools">;

/** Whether an agent may use a tool, or a part of what it does, without anybody being asked. */
export function mayUse(rules: ToolRules, tool: string): boolean {
  if (rules.denied_tools.includes(tool)) return false;
  if (rules.permission_mode === "bypassPermissions") return true;
  return rules.allowed_tools.some((one) => one === "*" || toolOf(one) === tool);
}

/** Whether it may use one tool of this MCP server. */
export function mayUseServer(rules: ToolRules, server: string): boolean {
  const whole = `mcp__${server}`;
  if ([whole, `${whole}__*`].some((one) => rules.denied_tools.includes(one))) return false;
  if (rules.permission_mode === "bypassPermissions") return true;
  return rules.allowed_tools.some(
    (one) => one === "*" || one === whole || one.startsWith(`${whole}__`),
  );
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
