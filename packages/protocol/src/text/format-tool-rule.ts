import type { PermissionRule, ToolRule } from "../records/permission-rule.ts";

/** The rule in the notation of `allowed_tools`, such as `Bash(npm test:*)`. */
export function formatToolRule({ tool, content }: ToolRule): string {
  if (content === null) return tool;
  return `${tool}(${content.replaceAll(/[\\()]/g, "\\$&")})`;
}

/** What a rule allows, on one line; the input of an exact request is not part of it. */
export function formatPermissionRule({
  rules,
  tool,
}: Pick<PermissionRule, "rules" | "tool">): string {
  return rules.length === 0 ? `${tool} with the same input` : rules.map(formatToolRule).join(", ");
}
