import { formatToolRule, type PermissionRule, type ToolRule } from "@herdctl/protocol";

/** The rules that still count: what the configuration denies cannot be allowed by a person. */
export function effectiveRules(
  rules: readonly PermissionRule[],
  deniedTools: readonly string[],
): PermissionRule[] {
  return rules.filter((rule) => {
    const named = rule.rules.length === 0 ? [{ tool: rule.tool, content: null }] : rule.rules;
    // defence: denied-before-rules
    return !named.some((toolRule) => isDenied(toolRule, deniedTools));
  });
}

/** Denied for all inputs. Claude Code itself prefers denials of some inputs to rules. */
function isDenied(rule: ToolRule, deniedTools: readonly string[]): boolean {
  const text = formatToolRule(rule);
  return deniedTools.some(
    (denied) =>
      denied === text || matchesPattern(denied, rule.tool) || isServerOf(denied, rule.tool),
  );
}

/** `mcp__github` denies all tools of that server. */
function isServerOf(denied: string, tool: string): boolean {
  return denied.startsWith("mcp__") && tool.startsWith(`${denied}__`);
}

function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}

interface RequestToMatch {
  inputHash: string;
  suggestedRules: readonly ToolRule[];
}

/** The rules of a request that is already allowed: as an exact request, or by all suggested rules. */
export function findAllowance(
  rules: readonly PermissionRule[],
  { inputHash, suggestedRules }: RequestToMatch,
): readonly ToolRule[] | undefined {
  const isSame = rules.some((rule) => rule.rules.length === 0 && rule.input_hash === inputHash);
  if (isSame) return [];
  const allowed = new Set(rules.flatMap((rule) => rule.rules.map(formatToolRule)));
  const isCovered = suggestedRules.every((rule) => allowed.has(formatToolRule(rule)));
  return suggestedRules.length > 0 && isCovered ? suggestedRules : undefined;
}
